"""The rules of N16, N17, N24 and N28 at every scale: what the paper prints passes, what speaks against them
does not; and their pictures can be drawn."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from penstock.lab.claims.flips_by_width import normalizations
from penstock.lab.claims.listing import built_claims
from penstock.lab.claims.n17_learnt_gates_beat_random_ones import differences
from penstock.lab.claims.n24_information_in_the_gates import printed_share, shares
from penstock.lab.claims.table_2 import REGIMES, ROWS
from penstock.lab.models.fully_connected import relu_network
from penstock.lab.models.initialization import Gaussian
from penstock.lab.models.random_sizes import seeded

BUILT = built_claims()
AROUND = torch.tensor([-0.1, -0.05, 0.0, 0.05, 0.1], dtype=torch.float64)
# FRNPF-II, FRNPF-DI, DLNPF, FLNPF, ReLU
PRINTED = ROWS["fc-adam"].printed


def table(*means: float, diverged: int = 0, row: str = "fc-adam") -> dict[str, Any]:
    """N16's evidence with these means of five runs."""
    test = torch.tensor(means or ROWS[row].printed, dtype=torch.float64)[:, None] + AROUND
    return {
        "rows": row,
        "data": ROWS[row].data,
        "test": test[None],
        "train": torch.full((1, 5, 5), 99.9, dtype=torch.float64),
        "epochs": torch.full((1, 5), 20),
        "diverged": diverged,
    }


READ: dict[str, Callable[[Any], Any]] = {
    "N16": lambda found: found,
    "N17": differences,
    "N24": shares,
    "N28": lambda found: WIDE,
}
"""What each claim makes of a table."""


def word(id: str, scale: str, found: dict[str, Any]) -> str:
    return BUILT[id].judge(scale, READ[id](found)).word


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
@pytest.mark.parametrize("id", ["N16", "N17", "N24"])
@pytest.mark.parametrize("row", ROWS)
def test_what_the_paper_prints_passes(id: str, scale: str, row: str):
    expected = "reproduced as corrected" if id == "N24" else "reproduced"
    assert word(id, scale, table(row=row)) == expected


SHAPELESS = (96.0, 96.1, 96.3, 96.25, 96.4)
SHIFTED = tuple(mean - 0.5 for mean in PRINTED)
APART = (95.4, 96.1, 98.2, 97.8, 98.1)
FEW_IN_GATES = (96.0, 96.1, 98.2, 96.9, 98.1)
NOT_RECOVERED = (67.1, 67.1, 77.1, 78.9, 80.3)


@pytest.mark.parametrize(
    ("id", "scale", "found", "expected"),
    [
        ("N16", "smoke", table(96.0, 96.1, 98.2, 96.05, 98.1), "not reproduced"),
        ("N16", "smoke", table(96.0, 96.1, 96.0, 97.8, 98.1), "not reproduced"),
        ("N16", "smoke", table(diverged=1), "not reproduced"),
        ("N16", "laptop", table(96.0, 96.1, 98.2, 97.8, 96.0), "not reproduced"),
        ("N16", "laptop", table(*SHAPELESS), "direction only"),
        ("N16", "laptop", table(*APART), "direction only"),
        ("N16", "laptop", table(*SHIFTED), "reproduced"),
        ("N16", "paper", table(*SHIFTED), "direction only"),
        ("N16", "paper", table(96.0, 98.3, 98.2, 97.8, 98.1), "not reproduced"),
        ("N17", "smoke", table(96.0, 96.1, 96.0, 97.8, 98.1), "not reproduced"),
        ("N17", "smoke", table(*APART), "reproduced"),
        ("N17", "laptop", table(*APART), "direction only"),
        ("N17", "laptop", table(97.0, 96.1, 96.5, 97.8, 98.1), "not reproduced"),
        ("N17", "laptop", table(diverged=2), "not reproduced"),
        ("N17", "paper", table(*NOT_RECOVERED, row="gconv-adam"), "direction only"),
        ("N24", "smoke", table(96.0, 96.1, 98.2, 95.9, 98.1), "not reproduced"),
        ("N24", "smoke", table(96.0, 96.1, 98.2, 97.8, 95.9), "not reproduced"),
        ("N24", "smoke", table(*FEW_IN_GATES), "reproduced as corrected"),
        ("N24", "laptop", table(*FEW_IN_GATES), "not reproduced"),
        ("N24", "laptop", table(96.0, 96.1, 98.2, 97.4, 98.1), "direction only"),
        ("N24", "paper", table(96.0, 96.1, 98.2, 97.5, 98.1), "direction only"),
    ],
)
def test_what_speaks_against_a_claim_does_not(id: str, scale: str, found: dict[str, Any], expected: str):
    assert word(id, scale, found) == expected


def test_random_gates_that_differ_by_chance_are_not_alike_until_the_interval_says_so():
    """A test that does not reject is not enough."""
    found = table()
    found["test"][0, REGIMES.index("frnpf-di")] += 12 * AROUND
    assert abs(float((found["test"][0, 1] - found["test"][0, 0]).mean())) < 0.1
    assert word("N17", "laptop", found) == "direction only"


def test_the_shares_of_the_papers_table():
    told = {"fc": (0.625, 0.85), "vconv": (0.51, 0.86), "gconv": (0.97, 0.95)}
    for name, by_optimizer in told.items():
        for optimizer, share in zip(("sgd", "adam"), by_optimizer, strict=True):
            assert printed_share(ROWS[f"{name}-{optimizer}"]) == pytest.approx(share, abs=0.005)


WIDE: dict[str, Any] = {
    "data": "digits",
    "layers": 2,
    "widths": torch.tensor([64, 256, 1024]),
    "share": torch.tensor([[[0.16], [0.08], [0.04]], [[0.16], [0.1], [0.08]]]).double().expand(2, 3, 3),
    "least_learnt": 0.95,
    "diverged": 0,
    "slope": -0.48,
    "slope_half_width": 0.05,
    "printed_slope": -0.25,
    "printed_slope_half_width": 0.05,
    "flatter_by_at_least": 0.15,
}  # fmt: skip


@pytest.mark.parametrize(
    ("found", "at_smoke", "at_laptop"),
    [
        ({}, "reproduced", "reproduced"),
        ({"slope": -1.0}, "not reproduced", "direction only"),
        ({"slope": -0.35}, "not reproduced", "direction only"),
        ({"slope": -0.2}, "not reproduced", "not reproduced"),
        ({"slope": 0.0}, "not reproduced", "not reproduced"),
        ({"slope_half_width": 0.15}, "not reproduced", "direction only"),
        ({"flatter_by_at_least": -0.02}, "not reproduced", "not reproduced"),
        ({"least_learnt": 0.3}, "not reproduced", "not reproduced"),
        ({"diverged": 1}, "not reproduced", "not reproduced"),
    ],
)
def test_the_rule_of_n28(found: dict[str, Any], at_smoke: str, at_laptop: str):
    assert BUILT["N28"].judge("smoke", WIDE | found).word == at_smoke
    assert BUILT["N28"].judge("laptop", WIDE | found).word == at_laptop


@pytest.mark.parametrize("id", ["N16", "N17", "N24", "N28"])
def test_they_draw_what_they_found(id: str, tmp_path: Path):
    draw = BUILT[id].draw
    assert draw is not None
    draw(READ[id](table())).savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5000


def test_both_normalisations_are_one_at_one_width():
    one, other = normalizations(64, 100, 2, 0.7, same_at=100)
    assert (one.factor, one.rate) == pytest.approx((other.factor, other.rate))


@pytest.mark.parametrize("place", [0, 1])
def test_a_factor_on_the_inputs_stands_for_one_before_every_layer(place: int):
    """√(2/fan-in), and the step of ω is `rate`; or √(2/w) in all layers, and θ = √(2/w) ω moves by one step,
    so that it is gradient descent on N Theorem 5.1's own weights, on inputs √(same_at/d_in) times as large.
    """
    inputs, width, hidden, rate, same_at = 5, 20, 2, 0.3, 8
    x, y = torch.randn(2, 7, inputs, dtype=torch.float64, generator=seeded(1)).unbind()
    way = normalizations(inputs, width, hidden, rate, same_at=same_at)[place]
    chain = relu_network((inputs, width, width, inputs), Gaussian(1.0), seeded(0))
    omegas = list(chain.parameters())
    factors = [(2 / fan_in) ** 0.5 for fan_in in ((inputs, width)[place], width, width)]
    thetas = [
        (factor * omega).detach().requires_grad_() for factor, omega in zip(factors, omegas, strict=True)
    ]
    outputs = (same_at / inputs) ** (place / 2) * x
    for layer, theta in enumerate(thetas):
        outputs = outputs @ theta.T
        outputs = outputs.relu() if layer < hidden else outputs
    assert torch.allclose(chain(way.factor * x), outputs)
    ours = torch.autograd.grad((chain(way.factor * x) - y).square().mean(), omegas)
    theirs = torch.autograd.grad((outputs - y).square().mean(), thetas)
    for factor, of_omega, of_theta in zip(factors, ours, theirs, strict=True):
        step_of_theta = 2 * rate / same_at if place else factor**2 * rate
        assert torch.allclose(factor * way.rate * of_omega, step_of_theta * of_theta)
