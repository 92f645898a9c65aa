"""The picture of a claim, drawn once into its run's folder."""

import sys
from pathlib import Path
from typing import Any

import pytest

from lab.toys import coin_claim, done
from penstock.errors import PenstockError
from penstock.lab.claims.claim import Claim, Evidence
from penstock.lab.report.pictures import draw_picture


def drawn(claim: Claim[Any], root: Path, scale: str = "smoke") -> list[Path]:
    outcome = done(claim, root)
    return draw_picture(claim, scale, outcome.evidence, outcome.folder)


def test_a_picture_is_drawn_for_the_screen_and_for_paper(tmp_path: Path):
    svg, png = drawn(coin_claim(), tmp_path)
    assert svg.read_bytes().startswith(b"<?xml")
    assert png.read_bytes().startswith(b"\x89PNG")


def test_a_picture_is_drawn_once(tmp_path: Path):
    drawn(coin_claim(), tmp_path)

    def never(evidence: Evidence) -> Any:
        raise AssertionError("this is drawn already")

    assert len(drawn(coin_claim(draw=never), tmp_path)) == 2


def test_the_same_picture_is_the_same_file(tmp_path: Path):
    first, second = (drawn(coin_claim(), tmp_path / name)[0] for name in "ab")
    assert first.read_bytes() == second.read_bytes()


def test_a_picture_at_a_reduced_scale_says_so(tmp_path: Path):
    said: list[str] = []

    def draw(evidence: Evidence) -> Any:
        from matplotlib.figure import Figure

        figure = Figure()
        figure.text = lambda *place, **_: said.append(place[2])  # type: ignore[method-assign]
        return figure

    drawn(coin_claim(draw=draw), tmp_path / "smoke", "smoke")
    assert said == ["N90, reduced scale: smoke"]
    drawn(coin_claim(draw=draw), tmp_path / "laptop", "laptop")
    assert len(said) == 1


def test_without_matplotlib_it_says_what_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PenstockError, match=r"the extra report: pip install 'penstock\[report\]'"):
        drawn(coin_claim(), tmp_path)


def test_a_run_stays_finished_when_its_picture_is_drawn(tmp_path: Path):
    drawn(coin_claim(), tmp_path)
    assert done(coin_claim(), tmp_path).found
