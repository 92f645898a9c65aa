"""The exact claims draw what they found."""

from pathlib import Path
from typing import Any

import pytest

from lab.toys import done
from penstock.lab.claims.listing import built_claims

SMALLER: dict[str, dict[str, Any]] = {
    "N2": {"architectures": 1, "draws": 1},
    "N3": {"networks": 1},
    "N4": {"architectures": 1, "draws": 4},
    "N5": {"architectures": 1, "draws": 1},
    "N7": {"architectures": 1, "draws": 12},
    "N12": {"widths": (4,), "depths": (2, 3), "batches": 10},
    "N27": {"networks": ("2-2-1", "1-2-2-1")},
    "D1": {"cases": 1},
    "D3": {"networks": ("2-1-1",)},
    "D5": {"mus": (0.5,), "widths": (10,), "depths": (2, 3), "batches": 10},
    "D7": {"architectures": 1, "draws": 40},
    "D19": {"networks": 1, "epochs": (0, 1)},
    "D20": {"networks": 0},
}


@pytest.mark.parametrize("id", SMALLER)
def test_a_claim_draws_what_it_found(id: str, tmp_path: Path):
    claim = built_claims()[id]
    assert claim.draw is not None
    figure = claim.draw(done(claim, tmp_path, **SMALLER[id]).evidence)
    figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5000
