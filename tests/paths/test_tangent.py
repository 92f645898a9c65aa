"""The value tangent kernel: N Definition 3.2, Proposition 3.1, and the remark after Definition 3.2."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils import parametrizations, prune

from networks.convolutional import (
    Concatenating,
    SmallResNet,
    TiedAutoencoder,
    circular,
    settled,
    small_images,
)
from networks.fully_connected import Skipping, fully_connected
from oracle.kernels import ntk
from oracle.kernels import vtk as slow_vtk
from oracle.paths import chain
from penstock import npf, vtk

widths = st.lists(st.integers(1, 3), min_size=2, max_size=4)


def assert_proposition_3_1(model, x, output=0, parameters=None):
    """K = Φᵀ V Φ, for the tangent kernel of one output."""
    features = npf(model, x, output=output)
    kernel = vtk(model, input_shape=tuple(x.shape[1:]), output=output)
    parameters = list(model.parameters()) if parameters is None else parameters
    expected = ntk(model, x, output=output, parameters=parameters)
    torch.testing.assert_close(features @ kernel @ features.T, expected, rtol=1e-10, atol=1e-10)


@settings(max_examples=10)
@given(widths=widths, bias=st.booleans(), seed=st.integers(0, 99))
def test_proposition_3_1_for_fully_connected_networks(widths, bias, seed):
    model = fully_connected(*widths, bias=bias, seed=seed)
    assert_proposition_3_1(model, torch.randn(3, widths[0], dtype=torch.float64), output=widths[-1] - 1)


@settings(max_examples=10)
@given(widths=widths, bias=st.booleans(), seed=st.integers(0, 99))
def test_the_kernel_is_the_one_of_the_definition(widths, bias, seed):
    model = fully_connected(*widths, bias=bias, seed=seed)
    linear = [layer for layer in model if isinstance(layer, nn.Linear)]
    x = torch.zeros(1, widths[0], dtype=torch.float64)
    values = chain(
        [layer.weight for layer in linear], [layer.bias for layer in linear] if bias else None, x
    ).values
    torch.testing.assert_close(vtk(model), slow_vtk(values, list(model.parameters())), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (Skipping().double(), (3,)),
        (small_images(channels=1, width=1), (1, 4, 4)),
        (small_images(nn.MaxPool2d(2, stride=1), channels=1, width=1), (1, 4, 4)),
        (SmallResNet(width=1), (1, 2, 2)),
        (Concatenating(), (1, 3)),
        (circular(bias=True), (1, 3)),
        (settled(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.LeakyReLU(), nn.Linear(2, 1))), (3,)),
        (
            settled(
                nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2, affine=False), nn.ReLU6(), nn.Linear(2, 1))
            ),
            (3,),
        ),
    ],
    ids=[
        "skip",
        "images",
        "max-pooling",
        "resnet",
        "concatenation",
        "circular",
        "norm",
        "plain norm and relu6",
    ],
)
def test_proposition_3_1_for_other_networks(model, shape):
    assert_proposition_3_1(model, 2 * torch.randn(3, *shape, dtype=torch.float64))


def test_a_tied_weight_is_one_parameter():
    model = TiedAutoencoder()
    assert_proposition_3_1(model, torch.randn(4, 3, dtype=torch.float64), output=1)
    shared = nn.Linear(3, 3, bias=False)
    assert_proposition_3_1(
        nn.Sequential(shared, nn.ReLU(), shared).double(), torch.randn(4, 3, dtype=torch.float64)
    )


def test_the_chain_rule_leads_through_weights_that_are_computed():
    normed = nn.Sequential(parametrizations.weight_norm(nn.Linear(3, 2)), nn.ReLU(), nn.Linear(2, 1)).double()
    assert_proposition_3_1(normed, torch.randn(4, 3, dtype=torch.float64))
    masked = prune.random_unstructured(nn.Linear(3, 2), "weight", 0.5)
    assert_proposition_3_1(
        nn.Sequential(masked, nn.ReLU(), nn.Linear(2, 1)).double(), torch.randn(4, 3, dtype=torch.float64)
    )


def test_a_weight_that_is_zero_has_a_derivative():
    """The product of the other weights, also where a division by the weight itself would fail."""
    inner, outer = nn.Linear(2, 2, bias=False), nn.Linear(2, 1, bias=False)
    nn.init.zeros_(inner.weight)
    kernel = vtk(nn.Sequential(inner, nn.ReLU(), outer))
    torch.testing.assert_close(kernel.diagonal(), outer.weight.detach()[0].repeat(2) ** 2)


def test_a_prelus_slope_is_a_gates_value_and_no_weight():
    """With the slopes' own share left out, the proposition holds; with it, K is larger."""
    model = nn.Sequential(nn.Linear(3, 2), nn.PReLU(), nn.Linear(2, 1)).double()
    x = torch.randn(4, 3, dtype=torch.float64)
    weights = [p for name, p in model.named_parameters() if name != "1.weight"]
    assert_proposition_3_1(model, x, parameters=weights)
    assert torch.linalg.matrix_norm(ntk(model, x) - ntk(model, x, parameters=weights)) > 1e-3


@given(seed=st.integers(0, 99), bias=st.booleans())
@settings(max_examples=5)
def test_the_kernel_knows_nothing_of_the_gates(seed, bias):
    """A deep linear network and a ReLU network with the same weights have the same V (after N Definition
    3.2).
    """
    relu = fully_connected(2, 3, 3, 1, bias=bias, seed=seed)
    linear = nn.Sequential(*(layer for layer in relu if isinstance(layer, nn.Linear)))
    assert torch.equal(vtk(relu), vtk(linear))


def test_all_parameters_count_also_frozen_ones_and_the_model_is_left_as_it_was():
    model = fully_connected(2, 3, 1)
    expected = vtk(model)
    model[0].requires_grad_(False)
    torch.testing.assert_close(vtk(model), expected)
    assert [p.requires_grad for p in model.parameters()] == [False, True]
    assert all(p.grad is None for p in model.parameters())


def test_without_parameters_the_kernel_is_zero():
    assert torch.equal(
        vtk(nn.Sequential(nn.AvgPool1d(2), nn.Flatten()), input_shape=(1, 2)), torch.zeros(2, 2)
    )


def test_it_works_under_no_grad():
    model = fully_connected(2, 3, 1)
    with torch.no_grad():
        inside = vtk(model)
    assert torch.equal(inside, vtk(model))
