"""The page of the demo: what it tells is what was computed, and it stands alone."""

import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from lab.report.page.reading import Reading
from lab.report.tour.small import SMALL
from penstock.errors import PenstockError
from penstock.lab.report.page.markup import number
from penstock.lab.report.tour.figure import tell_figure
from penstock.lab.report.tour.guide import Guide, write_tour
from penstock.lab.report.tour.opened import Opened
from penstock.lab.report.tour.training import Training

Written = tuple[Path, list[str]]


@pytest.fixture(scope="module")
def reading(written: Written) -> Reading:
    return Reading(written[0].read_text())


def test_it_says_what_it_does_in_a_few_lines(written: Written):
    said = written[1]
    assert 3 <= len(said) <= 10
    assert all(len(line) <= 100 for line in said)
    assert "of 18 paths open: 8, 8, 4" in said[1]


def test_the_page_is_one_small_file_without_a_link_to_anywhere(written: Written):
    page, _ = written
    assert [each.name for each in page.parent.iterdir()] == ["index.html"]
    assert page.stat().st_size < 600_000
    text = re.sub(r'src="data:[^"]*"', "", page.read_text())
    assert re.findall(r"(?:src|href)=|https?://|url\(|@import", text) == []


def test_every_drawing_can_be_read_aloud(reading: Reading):
    assert len(reading.all("svg")) >= 9
    for drawing in reading.all("svg"):
        assert drawing["role"] == "img"
        assert drawing["aria-label"]
    for image in reading.all("img"):
        assert image["alt"]


def test_headings_go_down_one_level_at_a_time(reading: Reading):
    levels = [int(tag[1]) for tag, _ in reading.tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert min(levels[1:]) == 2
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_names_are_given_once(reading: Reading):
    names = [attributes["id"] for _, attributes in reading.tags if "id" in attributes]
    assert len(set(names)) == len(names)


def test_every_path_of_every_input_has_its_row(reading: Reading):
    traced = [each["data-points"] for each in reading.all("button") if "data-points" in each]
    assert len(traced) == 3 * 18
    assert len(set(traced)) == 18


def test_the_table_holds_the_numbers_that_were_computed(reading: Reading, opened: Opened):
    for example, output in enumerate(opened.output.tolist()):
        region = f"The paths of input {example + 1}"
        assert region in [each.get("aria-label") for each in reading.all("div")]
        assert number(output) in reading.text
    open_rows = [each for each in reading.all("tr") if each.get("class") == "open"]
    assert len(open_rows) == int((opened.features != 0).sum())


def test_every_flip_has_its_row_and_its_line(written: Written, training: Training):
    text = written[0].read_text()
    assert len(re.findall(r'class="flip ', text)) == 2 * len(training.flips)
    for flip in training.flips:
        assert f"{flip.lo:.3f}, {flip.hi:.3f}" in text


def test_without_the_extra_report_the_figure_is_a_line_that_says_what_it_needs(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    text = tell_figure(opened).html()
    assert "<img" not in text
    assert "pip install &#x27;penstock[report]&#x27;" in text or "pip install 'penstock[report]'" in text


def test_a_folder_that_cannot_be_made_is_told_before_anything_is_computed(tmp_path: Path):
    (tmp_path / "file").write_text("")
    said: list[str] = []
    with pytest.raises(PenstockError, match=r"file cannot be written \(File exists\)"):
        write_tour(tmp_path / "file", Guide(said.append))
    assert said == []


def test_an_interrupted_tour_leaves_the_page_as_it_was(tmp_path: Path):
    def interrupted(steps, what, total):
        if what == "epochs":
            raise KeyboardInterrupt
        return iter(steps)

    (tmp_path / "index.html").write_text("an older page")
    with pytest.raises(KeyboardInterrupt):
        write_tour(tmp_path, Guide(lambda line: None, progress=interrupted), SMALL)
    assert [each.name for each in tmp_path.iterdir()] == ["index.html"]
    assert (tmp_path / "index.html").read_text() == "an older page"
