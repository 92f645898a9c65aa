"""`penstock demo`: a page, and the line that says where it is."""

import webbrowser
from pathlib import Path

import pytest

from cli.conftest import Command
from penstock.lab.report.tour import guide


@pytest.fixture(autouse=True)
def short_tour(monkeypatch: pytest.MonkeyPatch):
    """The tour itself has tests of its own."""

    def write_tour(folder: Path, guide: guide.Guide) -> Path:
        guide.say("opening")
        assert list(guide.follow(range(3))) == [0, 1, 2]
        assert guide.progress is not None
        assert list(guide.progress(range(3), "epochs", 3)) == [0, 1, 2]
        folder.mkdir(parents=True)
        (folder / "index.html").write_text("page")
        return folder / "index.html"

    monkeypatch.setattr(guide, "write_tour", write_tour)


def test_it_ends_with_the_line_that_says_where_the_page_is(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    said = command("demo")
    assert said.code == 0
    assert said.lines == ["opening", f"the page is {tmp_path / 'demo' / 'index.html'}"]


def test_the_page_lies_where_it_is_told_to(command: Command, tmp_path: Path):
    said = command("demo", "--out", str(tmp_path / "a b"))
    assert said.lines[-1] == f"the page is {tmp_path / 'a b' / 'index.html'}"


def test_the_browser_is_opened_only_when_asked(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    shown: list[str] = []
    monkeypatch.setattr(webbrowser, "open", shown.append)
    command("demo", "--out", str(tmp_path / "one"))
    assert shown == []
    command("demo", "--out", str(tmp_path / "two"), "--open")
    assert shown == [(tmp_path / "two" / "index.html").as_uri()]
