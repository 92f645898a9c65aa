"""The pictures of the documentation are what the claims draw today."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import matplotlib
import pytest

from docs.tables import DOCS, ROOT


def drawing() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw", DOCS / "images" / "draw.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


DRAWING = drawing()


@pytest.mark.parametrize(("name", "claim"), DRAWING.PICTURES.items())
def test_a_picture_is_what_its_claim_draws(name: str, claim: str, tmp_path: Path):
    kept = (DOCS / "images" / name).read_text()
    drawn = DRAWING.draw(claim, tmp_path).read_text()
    if f"Matplotlib v{matplotlib.__version__}," not in kept:
        kept, drawn = (
            " ".join(re.findall(r"<!-- (.+?) -->", text)) for text in (kept, drawn)
        )  # the words in it
    assert kept == drawn


def test_every_picture_is_drawn_by_command():
    kept = {path.name for path in (DOCS / "images").iterdir() if path.suffix in (".svg", ".png", ".jpg")}
    assert kept == set(DRAWING.PICTURES)


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_first_page_shows_the_picture(page: str):
    text = (ROOT / page).read_text()
    shown = re.findall(r"!\[.+?\]\(([\w/.-]+)\)", text)
    assert [(ROOT / page).parent / path for path in shown] == [DOCS / "images" / "active-subnetworks.svg"]
