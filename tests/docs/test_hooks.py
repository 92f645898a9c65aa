"""What runs while the documentation is built: the list of claims, and the check that nothing is fetched."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from docs.names import claims_known
from docs.tables import DOCS


def hook(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / "hooks" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


OFFLINE = hook("offline")


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://unpkg.com/x"></script>',
        "<script async src=//cdn.example/x.js></script>",
        '<link rel="stylesheet" href="https://fonts.googleapis.com/css">',
        '<link href="https://fonts.gstatic.com" rel="preconnect" crossorigin>',
        '<img alt="badge" src="http://img.example/x.svg">',
        '@import "https://example.org/x.css";',
        "@font-face { src: url(https://example.org/x.woff2) }",
    ],
)
def test_what_a_page_fetches_from_the_network_is_found(text: str):
    assert len(list(OFFLINE.loaded_from_the_network(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        '<a href="https://arxiv.org/abs/2006.10529">a link to follow</a>',
        '<script src="../assets/javascripts/bundle.js"></script>',
        '<link rel="canonical" href="https://example.org/">',
        "@font-face { src: url(../fonts/x.woff2) }",
        '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
    ],
)
def test_what_a_reader_may_follow_is_not(text: str):
    assert list(OFFLINE.loaded_from_the_network(text)) == []


def test_the_claims_page_lists_every_claim_once():
    table = hook("claims_table").table()
    listed = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")]
    assert [name for name in listed if name != "Claim"] == claims_known()


def test_the_list_takes_the_place_of_its_mark_and_only_on_its_page():
    class Page:
        def __init__(self, name: str):
            self.file = type("File", (), {"src_uri": name})

    claims = hook("claims_table")
    text = (Path(DOCS) / "claims.md").read_text()
    assert claims.MARK in text
    assert claims.MARK not in claims.on_page_markdown(text, page=Page("claims.md"))
    assert claims.on_page_markdown(text, page=Page("index.md")) == text


def test_a_long_name_may_break_behind_its_parts_and_a_short_one_may_not():
    breaks = hook("breaks")
    long = breaks.on_page_content("<td><code>gates/test_gate.py::test_it</code></td>")
    assert long == "<td><code>gates/<wbr>test_<wbr>gate.<wbr>py::<wbr>test_<wbr>it</code></td>"
    assert breaks.on_page_content("<code>list_paths</code>") == "<code>list_paths</code>"
