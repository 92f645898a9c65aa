"""`docs/theory.md` leaves nothing of the papers out, and names nothing that is not there."""

import importlib

import pytest

from docs.names import claim_is_built, claim_is_known, claims_known, has_test, symbol_exists
from docs.papers import PAPERS
from docs.tables import Mention, Row, theory

ROWS = theory()
MENTIONS = [(row, mention) for row in ROWS for mention in row.mentions]


def name(value: object) -> str:
    match value:
        case Row():
            return f"{value.paper} {value.place}".replace(" ", "_")
        case Mention():
            return f"{'planned ' if value.planned else ''}{value.name}".replace(" ", "_")
    return ""


def test_the_page_was_read():
    assert {row.paper for row in ROWS} >= set(PAPERS)
    assert len(ROWS) > 150


@pytest.mark.parametrize("paper", PAPERS)
def test_every_numbered_item_of_a_paper_has_a_row(paper: str):
    there = {item for row in ROWS if row.paper == paper for item in row.items}
    assert PAPERS[paper] - there == set()


@pytest.mark.parametrize("paper", PAPERS)
def test_no_row_names_an_item_that_the_paper_does_not_have(paper: str):
    there = {item for row in ROWS if row.paper == paper for item in row.items}
    assert there - PAPERS[paper] == set()


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_a_row_says_what_is_claimed_and_what_carries_it(row: Row):
    assert row.says
    assert row.mentions


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_what_is_built_is_tested(row: Row):
    """A row whose functions are all there has a test, or a claim, which is one and may be planned."""
    functions = [m for m in row.mentions if m.kind == "symbol"]
    if not any(m.planned for m in functions):
        assert any(m.kind in ("test", "claim") for m in row.mentions)


@pytest.mark.parametrize(("row", "mention"), MENTIONS, ids=name)
def test_what_is_named_is_there_and_what_is_planned_is_not(row: Row, mention: Mention):
    if mention.kind == "claim":
        assert claim_is_known(mention.name), f"{row.place}: no claim is called {mention.name}"
        there = claim_is_built(mention.name)
    else:
        there = (symbol_exists if mention.kind == "symbol" else has_test)(mention.name)
    if mention.planned:
        assert not there, f"{row.place}: {mention.name} is built, and the page still says planned"
    else:
        assert there, f"{row.place}: there is no {mention.kind} {mention.name}"


def test_every_claim_has_a_place_in_the_papers():
    named = {mention.name for _, mention in MENTIONS if mention.kind == "claim"}
    assert set(claims_known()) - named == set()


def test_the_public_functions_all_have_a_row():
    """What no paper speaks of (`adapt`, `PenstockError`) and what holds others (`GateRecord`) excepted."""
    package = importlib.import_module("penstock")
    named = {mention.name for _, mention in MENTIONS if mention.kind == "symbol"}
    public = {f"penstock.{each}" for each in package._HOME} - {"penstock.adapt", "penstock.PenstockError"}
    assert {each for each in public if not any(n == each or n.startswith(each + ".") for n in named)} == set()
