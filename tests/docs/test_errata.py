"""`docs/errata.md`: what is printed, what holds, how we know, and no name that is not there."""

import re

import pytest

from docs.names import claim_is_built, claim_is_known, has_test
from docs.papers import PAPERS
from docs.tables import DOCS, Erratum, Mention, errata

ENTRIES = errata()
MENTIONS = [(entry, mention) for entry in ENTRIES for mention in entry.mentions]


def name(value: object) -> str:
    match value:
        case Erratum():
            return value.place.replace(" ", "_")
        case Mention():
            return value.name
    return ""


def test_the_page_was_read():
    assert {entry.paper for entry in ENTRIES} == {paper for paper in PAPERS if len(paper) == 1}
    assert len(ENTRIES) > 50
    assert len({entry.place for entry in ENTRIES}) == len(ENTRIES)


@pytest.mark.parametrize("entry", ENTRIES, ids=name)
def test_an_entry_says_what_is_printed_what_holds_and_how_we_know(entry: Erratum):
    assert entry.place.startswith(entry.paper + " ")
    assert list(entry.fields) == ["Printed", "Holds", "Known by"]
    assert all(entry.fields.values())
    assert entry.mentions


@pytest.mark.parametrize(("entry", "mention"), MENTIONS, ids=name)
def test_what_is_named_is_there_and_what_is_planned_is_not(entry: Erratum, mention: Mention):
    if mention.kind == "test":
        assert has_test(mention.name), f"{entry.place}: there is no test {mention.name}"
        return
    assert claim_is_known(mention.name), f"{entry.place}: no claim is called {mention.name}"
    assert claim_is_built(mention.name) is not mention.planned, f"{entry.place}: {mention}"


def test_what_is_known_is_named_in_a_form_that_is_checked():
    """Nothing that looks like a claim or a test escapes the reader of this page."""
    for entry in ENTRIES:
        known = entry.fields["Known by"]
        looks_like = re.findall(r"\b[NDRLB]\d+\b|\btest_\w+(?!\w*\.py)", known)
        named = " ".join(mention.name for mention in entry.mentions)
        assert all(each in named for each in looks_like), entry.place


def test_links_from_the_theory_map_lead_to_entries():
    def slug(text: str) -> str:
        return re.sub(
            r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", text.encode("ascii", "ignore").decode()).strip().lower()
        )

    wanted = set(re.findall(r"errata\.md#([\w-]+)", (DOCS / "theory.md").read_text()))
    assert wanted - {slug(entry.place) for entry in ENTRIES} == set()
