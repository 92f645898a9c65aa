"""Settings under which a claim would show nothing are refused, before anything is computed."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from lab.toys import done
from penstock.errors import PenstockError
from penstock.lab.claims.least import check_least, widths_of
from penstock.lab.claims.listing import built_claims


@dataclasses.dataclass(frozen=True)
class Some:
    cases: int = 0
    networks: tuple[str, ...] = ()


def test_a_number_and_a_list_are_counted():
    with pytest.raises(PenstockError, match="the setting cases is 0, which shows nothing; give 1 or more"):
        check_least(Some(), cases=1)
    with pytest.raises(PenstockError, match="the setting networks is"):
        check_least(Some(cases=1), networks=1)
    check_least(Some(cases=2, networks=("2-1",)), cases=2, networks=1)


def test_a_network_is_named_by_its_widths():
    assert widths_of("2-3-3-1") == (2, 3, 3, 1)
    with pytest.raises(PenstockError, match="'2x3' names no network"):
        widths_of("2x3")


@pytest.mark.parametrize(
    ("id", "settings"),
    [
        ("N2", {"draws": 0}),
        ("N6", {"examples": 0}),
        ("N6", {"rate": 0.0}),
        ("N6", {"small_seeds": (), "larger_seeds": ()}),
        ("N4", {"examples": 1}),
        ("N14", {"cases": 0}),
        ("N27", {"networks": ()}),
        ("N27", {"networks": ("2-x-1",)}),
        ("N27", {"networks": ("9-9-1",)}),
        ("N27", {"sigma": 0.0}),
        ("D1", {"starts": 0}),
        ("D3", {"sigma": -1.0}),
        ("D3", {"networks": ("2-0-1",)}),
        ("D3", {"networks": ("5",)}),
        ("D7", {"architectures": 0}),
        ("D20", {"networks": -1}),
    ],
)
def test_a_claim_refuses_them(id: str, settings: dict[str, Any], tmp_path: Path):
    with pytest.raises(PenstockError):
        done(built_claims()[id], tmp_path, **settings)


@pytest.mark.parametrize("id", ["N4", "D7"])
def test_a_run_that_finds_too_little_still_ends_and_draws(id: str, tmp_path: Path):
    """One network may show no shared path, or no η below 1: what is found is judged all the same."""
    claim = built_claims()[id]
    outcome = done(claim, tmp_path, architectures=1, draws=1)
    assert outcome.verdict.word.endswith(("reproduced", "corrected"))
    assert claim.draw is not None
    assert claim.draw(outcome.evidence).axes
