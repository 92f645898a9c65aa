"""Every claim of the papers has a row, once, and what is built is found by its file."""

import re

import pytest

from penstock.errors import PenstockError, UnknownName
from penstock.lab.claims.catalogue import CATALOGUE
from penstock.lab.claims.claim import KINDS
from penstock.lab.claims.listing import built_claims, claim_rows, select

LAST = {"N": 28, "D": 22, "R": 14, "L": 15, "B": 1}
EVERY = [f"{paper}{number}" for paper, last in LAST.items() for number in range(1, last + 1)]


def test_every_claim_of_the_papers_has_its_row_in_order():
    assert list(claim_rows()) == EVERY


def test_a_claim_that_is_built_has_left_the_list_of_those_that_are_not():
    unbuilt = [id for id, *_ in CATALOGUE]
    assert len(set(unbuilt)) == len(unbuilt)
    assert set(unbuilt) & set(built_claims()) == set()


@pytest.mark.parametrize("id", EVERY)
def test_a_row_says_where_and_what_in_one_sentence(id: str):
    row = claim_rows()[id]
    assert row.id == id
    assert row.paper == id[0]
    assert row.kind in KINDS
    assert row.place.strip()
    assert re.fullmatch(r"[A-Z][^\n\t]+\.", row.says)


@pytest.mark.usefixtures("toy_claims")
def test_a_claims_file_is_found_by_listing_the_folder():
    assert built_claims()["N90"].says == "A fair coin shows heads half of the time."
    assert list(claim_rows())[28:33] == ["N90", "N91", "N92", "N93", "N94"]


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (["N2"], ["N2"]),
        (["d7", "n2", "D7"], ["D7", "N2"]),
        (["b"], ["B1"]),
        (["L"], [f"L{number}" for number in range(1, 16)]),
        (["all"], EVERY),
        ([], []),
    ],
)
def test_claims_are_named_by_id_by_paper_or_all_at_once(words: list[str], ids: list[str]):
    assert [row.id for row in select(words)] == ids


@pytest.mark.parametrize(
    ("word", "near"), [("N99", "N9"), ("D23", "D2"), ("nn2", "N2"), ("everything", "N1")]
)
def test_a_claim_that_is_not_there_is_told_the_nearest(word: str, near: str):
    with pytest.raises(UnknownName, match=rf"there is no claim called '{word}'; .*\b{near}\b"):
        select([word])


def test_a_file_is_named_after_its_claim(tmp_path, monkeypatch: pytest.MonkeyPatch):
    import penstock.lab.claims
    from lab.toys import FOLDER

    (tmp_path / "n97_coin.py").write_text((FOLDER / "n90_coin.py").read_text())
    monkeypatch.setattr(penstock.lab.claims, "__path__", [str(tmp_path)])
    built_claims.cache_clear()
    with pytest.raises(
        PenstockError, match=r"n97_coin\.py holds the claim N90; name the file after its claim"
    ):
        built_claims()
    built_claims.cache_clear()
