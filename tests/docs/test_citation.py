"""CITATION.cff and CHANGELOG.md speak of this version."""

import re

import pytest

import penstock
from docs.tables import ROOT

CITATION = (ROOT / "CITATION.cff").read_text()


def test_the_citation_is_of_this_version():
    assert re.search(r"^version: (.+)$", CITATION, flags=re.MULTILINE)[1] == penstock.__version__  # type: ignore[index]


def test_the_changelog_knows_this_version():
    assert penstock.__version__ in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize(
    "title",
    [
        "Neural Path Features and Neural Path Kernel",
        "Deep Gated Networks",
        "The Neural Race Reduction",
        "Luck Matters",
    ],
)
def test_every_paper_is_cited(title: str):
    """With its authors, its year and where it is kept."""
    entry = CITATION.split(f'title: "{title}')[1].split("\n  - type:")[0]
    assert entry.count("family-names:") >= 2
    assert re.search(r"^    year: 20\d\d$", entry, flags=re.MULTILINE)
    number = re.search(r"value: arXiv:(\d{4}\.\d{5})$", entry, flags=re.MULTILINE)
    assert number
    assert f"url: https://arxiv.org/abs/{number[1]}" in entry
