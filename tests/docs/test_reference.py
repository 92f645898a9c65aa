"""The reference shows every public name once, on the page of its room."""

import re
from pathlib import Path

import penstock
from docs.names import symbol_exists
from docs.tables import DOCS, ROOT

PAGES = sorted((DOCS / "reference").glob("*.md"))


def shown(page: Path) -> list[str]:
    return re.findall(r"^::: ([\w.]+)", page.read_text(), flags=re.MULTILINE)


def test_every_public_name_has_its_entry():
    entries = [name for page in PAGES for name in shown(page)]
    assert {f"{module}.{name}" for name, module in penstock._HOME.items()} - set(entries) == set()
    assert len(entries) == len(set(entries))


def test_every_entry_exists_and_stands_on_the_page_of_its_room():
    for page in PAGES:
        for name in shown(page):
            assert symbol_exists(name)
            assert name.split(".")[1] == page.stem


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text().split("\nnav:\n")[1].split("\n\n")[0]
    named = set(re.findall(r"[\w/-]+\.md", navigation))
    assert {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")} == named
