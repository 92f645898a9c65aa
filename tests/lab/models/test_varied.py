"""Small networks of every kind."""

import pytest
import torch

from penstock import count_paths
from penstock.lab.models.many import many_networks
from penstock.lab.models.random_sizes import seeded
from penstock.lab.models.redrawing import redraw
from penstock.lab.models.varied import FAMILIES, varied_network


@pytest.mark.parametrize("family", FAMILIES)
def test_a_kind_gives_networks_of_many_sizes_with_one_output(family: str):
    parameters = set()
    for seed in range(20):
        model, shape = varied_network(family, seeded(seed), torch.float32)
        assert not model.training
        assert model(torch.ones(2, *shape)).shape == (2, 1)
        parameters.add(sum(parameter.numel() for parameter in model.parameters()))
    assert len(parameters) > 1


@pytest.mark.parametrize("family", FAMILIES)
def test_all_pairs_of_paths_fit(family: str):
    model, shape = varied_network(family, seeded(1))
    assert 1 <= count_paths(model, input_shape=shape) <= 1000


@pytest.mark.parametrize("family", FAMILIES)
def test_a_case_is_its_seed_and_the_global_random_state_stays(family: str):
    before = torch.random.get_rng_state()
    one, _ = varied_network(family, seeded(3))
    same, _ = varied_network(family, seeded(3))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(
        torch.equal(a, b) for a, b in zip(one.state_dict().values(), same.state_dict().values(), strict=True)
    )


def test_redrawing_changes_every_weight_and_running_statistic_in_place():
    model, _ = varied_network("batch normalization and max-pooling", seeded(0))
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    assert redraw(model, seeded(1)) is model
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name]) == name.endswith("num_batches_tracked")
        assert not name.endswith("running_var") or tensor.min() >= 0.5


def test_many_networks_are_few_modules_drawn_anew_in_both_dtypes():
    def make(generator: torch.Generator, dtype: torch.dtype) -> tuple[torch.nn.Module, tuple[int, ...]]:
        return varied_network("fully connected", generator, dtype)

    seen = [
        (network.model, network.inputs(2).dtype, next(network.model.parameters()).sum().item())
        for network in many_networks(make, seed=0, architectures=2, draws=3)
    ]
    assert [dtype for _, dtype, _ in seen] == [torch.float64] * 3 + [torch.float32] * 3
    assert len({id(model) for model, _, _ in seen}) == 2
    assert len({total for _, _, total in seen}) == 6
