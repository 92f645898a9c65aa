"""A page is one file that fetches nothing."""

import errno
import os
import re
from pathlib import Path

import pytest

from lab.report.page.reading import Reading
from penstock.errors import PenstockError
from penstock.lab.report.page.blocks import Prose
from penstock.lab.report.page.document import Page, asset
from penstock.lab.report.page.markup import Markup

PAGE = Page(
    "Title & more", ["what it is about"], [Prose(["text"])], scripts=[Markup("'<'")], footer=["the end"]
)


def test_a_page_has_its_language_its_title_and_one_first_heading():
    reading = Reading(PAGE.html())
    assert reading.all("html") == [{"lang": "en"}]
    assert len(reading.all("h1")) == len(reading.all("main")) == len(reading.all("title")) == 1
    assert "width=device-width" in str(reading.all("meta"))


def test_a_page_may_fetch_nothing():
    policy = next(each for each in Reading(PAGE.html()).all("meta") if each.get("http-equiv"))
    assert policy["content"] is not None
    assert policy["content"].startswith("default-src 'none'")


def test_the_style_serves_day_night_phone_and_print():
    style = asset("page", "page.css")
    assert re.findall(r"@media \(?([\w-]+)", style) == ["prefers-color-scheme", "max-width", "print"]
    assert "http" not in style
    assert "@import" not in style


def test_a_page_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = PAGE.write(tmp_path / "new" / "folder")
    before = path.read_text()

    def write(handle: int, content: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(PenstockError, match=r"index\.html cannot be written \(No space left on device\)"):
        Page("Other", [], []).write(path.parent)
    assert path.read_text() == before
    assert list(path.parent.iterdir()) == [path]
