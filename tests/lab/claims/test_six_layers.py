"""D11 and D13: what counts as generalising better, and what does not."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from torch import Tensor

from lab.toys import done
from networks.drawn import drawn, inputs, seeds
from penstock import PenstockError, capture
from penstock.lab.claims.listing import built_claims
from penstock.lab.claims.six_layers import SixLayers
from penstock.lab.claims.six_layers_rules import gains, settled
from penstock.lab.claims.six_layers_training import fixed_pair
from penstock.lab.models.fully_connected import relu_network
from penstock.lab.models.initialization import Gaussian
from penstock.lab.models.random_sizes import seeded

SCATTER = torch.tensor([0.0, 0.1, -0.1, 0.2, -0.2])

IN_ORDER = {"D11": (99.6, 99.5, 99.4, 98.5), "D13": (99.5, 99.2, 98.4)}
REVERSED = {"D11": (98.6, 99.5, 99.4, 99.3), "D13": (99.5, 98.4, 99.2)}


def accuracies(means: tuple[float, ...], scatter: float = 0.5) -> Tensor:
    """Networks × five runs × ten epochs; runs of one seed do not go up and down together."""
    runs = torch.stack([SCATTER.roll(place) for place in range(len(means))])
    return (torch.tensor(means)[:, None] + scatter * runs)[:, :, None].expand(-1, -1, 10)


def evidence(test: tuple[float, ...], scatter: float = 0.5, **changes: Any) -> dict[str, Any]:
    train = accuracies((99.9,) * len(test), 0.0)
    return {"test": accuracies(test, scatter), "train": train, "diverged": 0} | changes


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
@pytest.mark.parametrize("id", IN_ORDER)
def test_an_order_that_every_run_shows_is_reproduced(id: str, scale: str):
    assert built_claims()[id].judge(scale, evidence(IN_ORDER[id])).word == "reproduced"


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
@pytest.mark.parametrize("id", REVERSED)
def test_one_network_out_of_order_is_enough_against_it(id: str, scale: str):
    assert built_claims()[id].judge(scale, evidence(REVERSED[id])).word == "not reproduced"


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
@pytest.mark.parametrize("id", IN_ORDER)
def test_a_run_that_diverged_is_against_it(id: str, scale: str):
    found = evidence(IN_ORDER[id])
    assert built_claims()[id].judge(scale, found | {"diverged": 1}).word == "not reproduced"
    test = found["test"].clone()
    test[0, 0, 5:] = test[1, 0, 5:] = float("nan")
    assert built_claims()[id].judge(scale, found | {"test": test}).word == "not reproduced"


@pytest.mark.parametrize("scale", ["laptop", "paper"])
@pytest.mark.parametrize("id", IN_ORDER)
def test_runs_that_scatter_more_than_networks_differ_show_a_direction_only(id: str, scale: str):
    found = evidence(IN_ORDER[id], scatter=10.0)
    assert built_claims()[id].judge(scale, found).word == "direction only"


@pytest.mark.parametrize("id", IN_ORDER)
def test_networks_that_have_not_fitted_their_examples_show_a_direction_only(id: str):
    means = IN_ORDER[id]
    train = accuracies((*(99.9 for _ in means[1:]), 97.0), 0.0)
    assert built_claims()[id].judge("laptop", evidence(means, train=train)).word == "direction only"


def test_an_accuracy_is_that_of_the_last_tenth_of_the_epochs():
    assert settled(torch.arange(20.0)).item() == 18.5
    assert settled(torch.arange(3.0)).item() == 2.0


def test_a_gain_is_of_runs_of_one_seed():
    """Two networks that differ by one point in every run are apart for sure, however runs scatter."""
    runs = 5 * SCATTER
    (gain,) = gains({"test": torch.stack([runs + 1, runs])[:, :, None]}, [(0, 1)])
    assert gain.center == pytest.approx(1)
    assert gain.half_width == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("changes", [{"seeds": (0, 1)}, {"epochs": 0}, {"rate": 0.0}, {"examples": 0}])
def test_settings_that_show_nothing_are_refused(changes: dict[str, Any]):
    with pytest.raises(PenstockError, match="shows nothing"):
        replace(SixLayers(), **changes)


@given(seeds)
def test_a_fixed_pair_opens_the_gates_of_one_network_for_the_weights_of_another(seed: int):
    features, values, x = (
        drawn((3, 5, 4, 1), seed),
        relu_network((3, 5, 4, 1), Gaussian(1.0), seeded(seed, 7)),
        inputs((3,), seed),
    )
    pair = fixed_pair(features, values)
    opened, features_own = capture(pair, x).to_dense(), capture(features, x).to_dense()
    assert all(torch.equal(opened[f"value.{name}"], gates) for name, gates in features_own.items())
    assert all(map(torch.equal, pair.value.parameters(), values.parameters()))
    assert not any(parameter.requires_grad for parameter in pair.feature.parameters())


@pytest.mark.parametrize(("id", "networks"), [("D11", 4), ("D13", 3)])
def test_every_network_has_a_curve_for_training_and_one_for_test(id: str, networks: int, tmp_path: Path):
    claim = built_claims()[id]
    assert claim.draw is not None
    found = done(claim, tmp_path, examples=60, width=6, hidden=2, epochs=2).evidence
    assert found["test"].shape == found["train"].shape == (networks, 3, 2)
    for ax in claim.draw(found).axes:
        assert len(ax.lines) == networks


def test_the_gates_of_d13_are_those_that_its_relu_networks_learnt(tmp_path: Path):
    """With no step to speak of, they are the unlearnt ones, and the two networks do the same."""
    small: dict[str, Any] = {"examples": 60, "width": 6, "hidden": 2, "epochs": 2}
    learnt = done(built_claims()["D13"], tmp_path / "learnt", rate=0.01, **small).evidence["train_loss"]
    still = done(built_claims()["D13"], tmp_path / "still", rate=1e-12, **small).evidence["train_loss"]
    assert torch.allclose(still[1], still[2], rtol=1e-5)
    assert not torch.allclose(learnt[1], learnt[2], rtol=1e-2)
