"""What a claim may be, and what its rule may say."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import pytest

from lab.toy_claims.n94_corrected import claim as corrected_claim
from lab.toys import coin_claim
from penstock.errors import PenstockError
from penstock.lab.claims.claim import NOT_RUN, RESERVED, WORDS, Claim, Scale, Verdict


def judged(word: Any, scale: str = "smoke", **changes: Any) -> Verdict:
    """What a claim makes of a rule that says `word`."""
    rule = Scale(
        settings=coin_claim().scales["smoke"].settings, rule="So.", judge=lambda evidence: Verdict(word, "so")
    )
    return coin_claim(scales={scale: rule}, **changes).judge(scale, {})


def test_the_words_are_these():
    assert (*WORDS, NOT_RUN) == (
        "reproduced",
        "reproduced as corrected",
        "direction only",
        "not reproduced",
        "not run",
    )


@pytest.mark.parametrize("word", ["Reproduced", "not run", "", "partly"])
def test_a_verdict_is_one_of_the_words(word: Any):
    with pytest.raises(PenstockError, match="is no verdict; a rule of judgement says one of: reproduced, "):
        Verdict(word, "so")


@pytest.mark.parametrize("ours", ["two\nlines", "a\ttab"])
def test_what_was_found_is_one_line(ours: str):
    with pytest.raises(PenstockError, match="one line without tabs"):
        Verdict("reproduced", ours)


@pytest.mark.parametrize(("holds", "word"), [(True, "reproduced"), (False, "not reproduced")])
def test_a_rule_that_does_not_hold_is_not_reproduced(holds: bool, word: str):
    assert Verdict.when(holds, "so").word == word


def test_what_holds_of_a_corrected_claim_is_reproduced_as_corrected():
    assert judged("reproduced as corrected", corrected="otherwise").word == "reproduced as corrected"
    assert judged("not reproduced", corrected="otherwise").word == "not reproduced"
    with pytest.raises(PenstockError, match="the claim has a correction"):
        judged("reproduced", corrected="otherwise")
    with pytest.raises(PenstockError, match="the claim has no correction"):
        judged("reproduced as corrected")


def test_direction_only_is_for_the_larger_scales():
    assert judged("direction only", "laptop").word == "direction only"
    with pytest.raises(PenstockError, match="'direction only', which is for laptop and paper"):
        judged("direction only")


@pytest.mark.parametrize(
    ("has", "asked", "runs"),
    [
        (["smoke"], "paper", "smoke"),
        (["smoke", "laptop"], "paper", "laptop"),
        (["smoke", "laptop", "paper"], "laptop", "laptop"),
        (["smoke", "paper"], "laptop", "smoke"),
        (["laptop", "paper"], "smoke", "laptop"),
    ],
)
def test_a_claim_runs_the_nearest_scale_that_it_has(has: list[str], asked: str, runs: str):
    scale = coin_claim().scales["smoke"]
    claim = coin_claim(scales=dict.fromkeys(reversed(has), scale))
    assert claim.scale_for(asked) == runs


def test_a_scale_is_reduced_where_the_claim_has_a_larger_one():
    claim = coin_claim()
    assert claim.is_reduced("smoke")
    assert not claim.is_reduced("laptop")
    assert not corrected_claim.is_reduced("smoke")


@pytest.mark.parametrize("changes", [{"id": "N0"}, {"id": "X1"}, {"id": "n2"}, {"paper": "D"}])
def test_an_id_is_its_papers_letter_and_a_number(changes: dict[str, str]):
    with pytest.raises(PenstockError, match="its paper's letter and a number"):
        coin_claim(**changes)


def test_a_claim_has_known_scales():
    scale = coin_claim().scales["smoke"]
    for scales in ({}, {"huge": scale}):
        with pytest.raises(PenstockError, match="needs at least one scale of smoke, laptop, paper"):
            coin_claim(scales=scales)


@dataclass
class Changeable:
    draws: int = 1


@pytest.mark.parametrize("settings", [Changeable(), Changeable, {"draws": 1}, None])
def test_settings_are_a_frozen_dataclass(settings: Any):
    rule = Scale(settings=settings, rule="So.", judge=lambda evidence: Verdict("reproduced", "so"))
    with pytest.raises(PenstockError, match="are to be a frozen dataclass"):
        coin_claim(scales={"smoke": rule})


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_a_setting_cannot_hide_an_option_of_the_command(name: str):
    settings = dataclasses.make_dataclass("Settings", [(name, int, 1)], frozen=True)()
    rule: Scale[Any] = Scale(
        settings=settings, rule="So.", judge=lambda evidence: Verdict("reproduced", "so")
    )
    with pytest.raises(PenstockError, match=f"a setting called '{name}', which `penstock reproduce` keeps"):
        coin_claim(scales={"smoke": rule})


def test_a_claim_cannot_be_changed():
    claim: Claim[Any] = coin_claim()
    with pytest.raises(dataclasses.FrozenInstanceError):
        claim.says = "Something else."  # type: ignore[misc]
