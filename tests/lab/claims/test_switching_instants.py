"""The claim N6: what its rule asks, and what it asks it of."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from lab.toys import done
from networks.fully_connected import fully_connected
from oracle import kernels, paths
from oracle.wiring import wire_sequential
from penstock.lab.claims.descent import Descent, value_step
from penstock.lab.claims.n06_gates_switch_at_instants import claim


def descent(seed: int = 1) -> Descent:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(6, 2, generator=generator, dtype=torch.float64)
    y = 3 * torch.randn(6, 1, generator=generator, dtype=torch.float64)
    return Descent(fully_connected(2, 3, 3, 1, seed=seed), x, y, steps=30, rate=0.03)


def test_a_descent_steps_along_the_gradient_of_half_the_squared_errors():
    way = descent()
    way.go_to(4.0)
    errors = way.model(way.x) - way.y
    tangents = kernels.jacobian(way.model, list(way.model.parameters()), way.x)[:, 0]
    torch.testing.assert_close(
        way.places[5] - way.places[4], -way.rate * (tangents.T @ errors.detach()[:, 0])
    )


def test_instants_are_a_millionth_of_a_step_wide_and_one_for_every_moment_of_flips():
    way = descent()
    assert way.instants
    assert len(way.instants) <= len(way.flips)
    for instant in way.instants:
        assert 0 < instant.after - instant.before < 1.1e-6
        assert (
            bool((way.features(instant.before) != way.features(instant.after)).any()) == instant.changes_npf
        )


def test_path_values_move_by_the_inner_product_of_their_gradients_and_the_step():
    """The gap is that of the oracle's path gradients, N Definition 3.1."""
    way = descent()
    way.go_to(2.0)
    parameters = list(way.model.parameters())
    values = paths.values(paths.listed(wire_sequential(way.model, 2)))
    step = -way.rate * way.gradient()
    predicted = torch.stack(values).detach() + kernels.path_gradients(values, parameters) @ step
    way.go_to(3.0)
    reached = paths.npv(paths.listed(wire_sequential(way.model, 2)))
    told = value_step(way, 2.0, way.rate)
    assert told.gap == pytest.approx(float((reached - predicted).abs().max()), rel=1e-9)
    assert told.gap_without_first_layer > told.gap


def test_what_a_run_finds_is_drawn(tmp_path: Path):
    assert claim.draw is not None
    figure = claim.draw(done(claim, tmp_path, larger_seeds=(), steps=40, rate=0.03).evidence)
    figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def evidence(**changed: Any) -> dict[str, Any]:
    good: dict[str, Any] = {
        "flips": torch.tensor([3]),
        "changes": torch.tensor([True, False]),
        "features_move": torch.tensor([True, False]),
        "kernel_moves": torch.tensor([1.0, 1e-6]),
        "kernel_drifts": torch.tensor([1e-6, 1e-6]),
        "features_move_between": torch.tensor([0, 0]),
        "halved": torch.tensor([2.02]),
        "gap_falls": torch.tensor([3.9, 4.1]),
        "gap_falls_without_first_layer": torch.tensor([2.0, 2.1]),
    }
    return {**good, **changed}


def test_the_rule_holds_where_everything_does():
    assert claim.judge("smoke", evidence()).word == "reproduced"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("features_move", torch.tensor([False, False])),
        ("features_move", torch.tensor([True, True])),
        ("features_move_between", torch.tensor([0, 1])),
        ("kernel_moves", torch.tensor([1e-5, 1e-6])),
        ("kernel_moves", torch.tensor([1.0, 1e-5])),
        ("halved", torch.tensor([2.02, 1.0])),
        ("gap_falls", torch.tensor([3.9, 2.0])),
        ("gap_falls_without_first_layer", torch.tensor([4.0, 2.0])),
    ],
)
def test_the_rule_fails_where_one_thing_does_not(name: str, value: Tensor):
    assert claim.judge("smoke", evidence(**{name: value})).word == "not reproduced"


@pytest.mark.parametrize("kept", [[], [0], [1]])
def test_without_flips_of_both_kinds_there_is_nothing_to_judge(kept: list[int]):
    columns = ("changes", "features_move", "kernel_moves", "kernel_drifts")
    fewer = {name: evidence()[name][kept] for name in columns}
    assert claim.judge("smoke", evidence(**fewer)).word == "not reproduced"
