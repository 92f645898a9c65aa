"""One set of parameters for both networks, and never one module: N(Θ, β; Θ) of D Table 3."""

import copy
import warnings
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, prune

from decoupled.cases import NETWORKS, made, small_convolutions, two_layers
from networks import awkward
from penstock import Soft, adapt, decouple

X = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("name", NETWORKS)
def test_each_parameter_is_shared_under_the_features_name_and_no_module_is(name: str):
    model, _ = made(name)
    pair = decouple(model, Soft(), tied=True)
    assert [each for each, _ in pair.named_parameters()] == [
        f"feature.{each}" for each, _ in model.named_parameters()
    ]
    its = dict(pair.feature.named_parameters(remove_duplicate=False))
    for each, parameter in pair.value.named_parameters(remove_duplicate=False):
        assert parameter is its[each]
    assert not set(pair.feature.modules()) & set(pair.value.modules())
    assert len(pair.state_dict()) == 2 * len(model.state_dict())


def test_buffers_are_each_networks_own():
    pair = decouple(small_convolutions(norm=True).train(), Soft(), tied=True)
    pair(torch.randn(5, 1, 8, 8))
    features, values = (part.get_buffer("1.running_mean") for part in (pair.feature, pair.value))
    assert features.data_ptr() != values.data_ptr()


@pytest.mark.parametrize(
    "change", [copy.deepcopy, lambda pair: pair.double().float(), lambda pair: pair.cpu()]
)
def test_copies_and_conversions_keep_the_tie(change: Callable[[nn.Module], nn.Module]):
    pair = change(decouple(two_layers(), Soft(), tied=True))
    for name, parameter in pair.get_submodule("value").named_parameters():
        assert parameter is pair.get_parameter(f"feature.{name}")


def test_one_step_moves_both():
    pair = decouple(two_layers(), Soft(), tied=True)
    optimizer = torch.optim.SGD(pair.parameters(), lr=0.1)
    pair(X).sum().backward()
    optimizer.step()
    assert all(
        torch.equal(a, b) for a, b in zip(pair.feature.parameters(), pair.value.parameters(), strict=True)
    )


def test_an_adapted_model_is_tied_inside():
    model = awkward.TwoInputs()
    pair = decouple(adapt(model, lambda model, batch: model(batch, 2.0)["logits"]), Soft(), tied=True)
    assert len(list(pair.parameters())) == len(list(model.parameters()))
    copy.deepcopy(pair)(X).sum().backward()


def old_weight_norm(module: nn.Module) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        nn.utils.weight_norm(module)


@pytest.mark.parametrize(
    "derive",
    [
        old_weight_norm,
        parametrizations.weight_norm,
        lambda layer: prune.random_unstructured(layer, "weight", 0.5),
    ],
)
def test_derived_weights_follow_the_shared_ones(derive: Callable[[nn.Module], object]):
    torch.manual_seed(0)
    model = two_layers()
    derive(model[2])
    model(X)
    pair = decouple(model, Soft(), feature_gate=Soft(), tied=True)
    pair(X)
    with torch.no_grad():
        for parameter in pair.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    apart = decouple(pair.feature, Soft(), feature_gate=Soft())
    torch.testing.assert_close(pair(X), apart(X))
    pair(X).sum().backward()
