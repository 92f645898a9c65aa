"""The toy claims where the real ones are found, for a test; and what tests ask of a run."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock.lab.claims
from lab.toy_claims.n90_coin import claim as _coin
from lab.toy_claims.n93_slow import claim as _slow
from penstock.lab.claims.claim import Claim
from penstock.lab.claims.listing import built_claims, claim_rows
from penstock.lab.runs.performing import Bench, Outcome, perform

FOLDER = Path(__file__).parent / "toy_claims"


def coin_claim(**changes: Any) -> Claim[Any]:
    return dataclasses.replace(_coin, **changes)


def slow_claim(**changes: Any) -> Claim[Any]:
    return dataclasses.replace(_slow, **changes)


def done(claim: Claim[Any], root: Path, *, fresh: bool = False, **settings: Any) -> Outcome:
    """The claim's smoke run in `root`."""
    usual = claim.scales["smoke"].settings
    return perform(claim, "smoke", dataclasses.replace(usual, **settings), Bench(root), fresh=fresh)


@pytest.fixture
def toy_claims(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """N90 to N94 stand in the table beside the papers' claims."""
    monkeypatch.setattr(penstock.lab.claims, "__path__", [*penstock.lab.claims.__path__, str(FOLDER)])
    built_claims.cache_clear()
    claim_rows.cache_clear()
    yield
    built_claims.cache_clear()
    claim_rows.cache_clear()
