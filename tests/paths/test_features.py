"""Neural path features: N Definition 2.1, Proposition 2.1."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils import parametrizations, prune
from torch.utils.data import DataLoader, TensorDataset

from networks.convolutional import (
    Concatenating,
    SmallResNet,
    TiedAutoencoder,
    circular,
    settled,
    small_images,
)
from networks.fully_connected import Skipping, fully_connected
from oracle.paths import chain, listed
from oracle.paths import npf as slow_npf
from oracle.paths import npv as slow_npv
from oracle.wiring import wire_sequential
from penstock import PenstockError, npf, npv, vtk

widths = st.lists(st.integers(1, 4), min_size=2, max_size=5)

GATES = [nn.ReLU, nn.LeakyReLU, nn.PReLU, nn.ReLU6, nn.SiLU, nn.GELU, nn.Identity]


def assert_proposition_2_1(model, x, **tolerance):
    """ŷ(x) = ⟨φ_x, v⟩, for every output and every row of a batch."""
    with torch.no_grad():
        y = model(x)
    for output in range(y.shape[1]):
        value = npv(model, input_shape=tuple(x.shape[1:]), output=output)
        torch.testing.assert_close(npf(model, x, output=output) @ value, y[:, output], **tolerance)


@settings(max_examples=12)
@given(
    widths=widths,
    bias=st.booleans(),
    seed=st.integers(0, 99),
    dtype=st.sampled_from([torch.float32, torch.float64]),
)
def test_proposition_2_1_for_fully_connected_networks(widths, bias, seed, dtype):
    model = fully_connected(*widths, bias=bias, seed=seed, dtype=dtype)
    x = torch.randn(5, widths[0], dtype=dtype)
    exact = {"rtol": 1e-10, "atol": 1e-12} if dtype == torch.float64 else {"rtol": 1e-4, "atol": 1e-5}
    assert_proposition_2_1(model, x, **exact)


@settings(max_examples=12)
@given(
    gates=st.lists(st.sampled_from(GATES), min_size=1, max_size=3),
    norm=st.booleans(),
    seed=st.integers(0, 99),
)
def test_proposition_2_1_whatever_the_gates_are(gates, norm, seed):
    torch.manual_seed(seed)
    layers: list[nn.Module] = []
    for gate in gates:
        layers += [nn.Linear(3, 3), nn.BatchNorm1d(3) if norm else nn.Identity(), gate()]
    model = settled(nn.Sequential(*layers, nn.Linear(3, 2)), seed)
    assert_proposition_2_1(model, 3 * torch.randn(6, 3, dtype=torch.float64), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (Skipping(outputs=2).double(), (3,)),
        (small_images(), (2, 4, 4)),
        (small_images(nn.AvgPool2d(2, stride=1, padding=1)), (2, 4, 4)),
        (small_images(nn.MaxPool2d(2, stride=1)), (2, 4, 4)),
        (small_images(nn.AdaptiveMaxPool2d(2)), (2, 4, 4)),
        (SmallResNet(), (1, 2, 2)),
        (Concatenating(), (1, 3)),
        (TiedAutoencoder(), (3,)),
        (circular(bias=True), (1, 3)),
        (
            nn.Sequential(parametrizations.weight_norm(nn.Linear(3, 2)), nn.ReLU(), nn.Linear(2, 1)).double(),
            (3,),
        ),
        (
            nn.Sequential(
                prune.random_unstructured(nn.Linear(3, 2), "weight", 0.5), nn.ReLU(), nn.Linear(2, 1)
            ).double(),
            (3,),
        ),
    ],
    ids=lambda given: type(given).__name__ if isinstance(given, nn.Module) else None,
)
def test_proposition_2_1_for_other_networks(model, shape):
    assert_proposition_2_1(model, torch.randn(4, *shape, dtype=torch.float64), rtol=1e-10, atol=1e-12)


@settings(max_examples=10)
@given(widths=widths, bias=st.booleans(), seed=st.integers(0, 99))
def test_features_and_values_are_those_of_the_definition_in_its_order(widths, bias, seed):
    model = fully_connected(*widths, bias=bias, seed=seed)
    linear = [layer for layer in model if isinstance(layer, nn.Linear)]
    x = torch.randn(3, widths[0], dtype=torch.float64)
    slow = chain([layer.weight for layer in linear], [layer.bias for layer in linear] if bias else None, x)
    torch.testing.assert_close(npf(model, x), slow.npf, rtol=1e-10, atol=0)
    torch.testing.assert_close(npv(model), slow.npv.detach(), rtol=1e-10, atol=0)


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (small_images(width=2, outputs=1), (2, 4, 4)),
        (small_images(nn.AvgPool2d(2), channels=1, size=8, width=1, outputs=1), (1, 8, 8)),
        (small_images(nn.MaxPool2d(2), channels=1, size=4, width=2, norm=False, outputs=1), (1, 4, 4)),
        (
            nn.Sequential(
                nn.Conv1d(1, 2, 3, padding=1, padding_mode="circular"),
                nn.LeakyReLU(0.2),
                nn.Flatten(),
                nn.Linear(8, 1),
            ).double(),
            (1, 4),
        ),
    ],
    ids=["images", "average pooling", "max-pooling", "circular"],
)
def test_features_and_values_of_convolutional_networks_against_paths_in_loops(model, shape):
    wiring = wire_sequential(model, *shape)
    paths = listed(wiring)
    x = torch.randn(2, *shape, dtype=torch.float64)
    torch.testing.assert_close(
        npv(model, input_shape=shape), slow_npv(paths).detach(), rtol=1e-10, atol=1e-14
    )
    torch.testing.assert_close(npf(model, x), slow_npf(wiring, paths, x), rtol=1e-10, atol=1e-14)


def test_the_features_of_n_figure_1():
    """φ_x = [x(1) A(x, p1), …, x(1) A(x, p9), x(2) A(x, p10), …, x(2) A(x, p18)]."""
    model = fully_connected(2, 3, 3, 1)
    x = torch.tensor([[0.5, -2.0]], dtype=torch.float64)
    first = model[:2](x)[0] > 0
    second = model[:4](x)[0] > 0
    activity = [float(first[i] and second[j]) for i in range(3) for j in range(3)]
    assert npf(model, x)[0].tolist() == [0.5 * a for a in activity] + [-2.0 * a for a in activity]


def test_arrays_and_loaders_give_what_the_tensor_gives():
    model = fully_connected(2, 3, 1, bias=True)
    x = torch.randn(7, 2, dtype=torch.float64)
    expected = npf(model, x)
    torch.testing.assert_close(npf(model, x.numpy()), expected)
    torch.testing.assert_close(
        npf(model, DataLoader(TensorDataset(x, torch.zeros(7)), batch_size=3)), expected
    )
    torch.testing.assert_close(npf(model, np.asarray(x[:1])), expected[:1])


def test_signals_with_the_batch_behind_have_the_gates_of_their_own_examples():
    class Behind(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Linear(4, 4).double(), nn.Linear(4, 2).double()

        def forward(self, x):
            h = self.one(x).reshape(-1, 2, 2).permute(1, 0, 2).reshape(2, -1)
            return self.two(h.relu().reshape(2, -1, 2).permute(1, 0, 2).flatten(1))

    assert_proposition_2_1(Behind(), torch.randn(5, 4, dtype=torch.float64), rtol=1e-10, atol=1e-12)


def test_the_model_and_the_random_state_are_left_as_they_were():
    model = fully_connected(2, 3, 1, bias=True).train()
    x = torch.randn(4, 2, dtype=torch.float64)
    before, state = [p.clone() for p in model.parameters()], torch.random.get_rng_state()
    features = npf(model, x)
    assert not features.requires_grad
    assert model.training
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(p.grad is None and torch.equal(p, q) for p, q in zip(model.parameters(), before, strict=True))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_features_have_the_dtype_of_the_model(dtype):
    model = fully_connected(2, 3, 1, dtype=dtype)
    assert npf(model, torch.randn(3, 2, dtype=dtype)).dtype == dtype


@pytest.mark.parametrize(
    ("x", "reason"),
    [
        (torch.randn(3, 2), "float32"),
        (torch.full((3, 2), float("nan"), dtype=torch.float64), "NaN"),
        (torch.randn(3, 5, dtype=torch.float64), "2 features and is given 5"),
        (torch.zeros(0, 2, dtype=torch.float64), "empty"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(x, reason):
    with pytest.raises(PenstockError, match=reason):
        npf(fully_connected(2, 3, 1), x)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (small_images(nn.MaxPool2d(2, stride=1), width=1), (2, 4, 4)),
        (small_images(nn.AvgPool2d(2, stride=1), width=1), (2, 4, 4)),
        (SmallResNet(width=1), (1, 2, 2)),
        (Concatenating(), (1, 3)),
        (TiedAutoencoder(), (3,)),
        (
            settled(
                nn.Sequential(nn.Linear(3, 2), nn.PReLU(2), nn.Linear(2, 2), nn.ReLU6(), nn.Linear(2, 1))
            ),
            (3,),
        ),
    ],
)
def test_on_a_gpu_everything_is_as_on_the_cpu(model, shape):
    x = torch.randn(4, *shape, dtype=torch.float64)
    features, values, kernel = npf(model, x), npv(model, input_shape=shape), vtk(model, input_shape=shape)
    there = deepcopy(model).cuda()
    assert npf(there, x.cuda()).is_cuda
    torch.testing.assert_close(npf(there, x.cuda()).cpu(), features)
    torch.testing.assert_close(npv(there, input_shape=shape).cpu(), values)
    torch.testing.assert_close(vtk(there, input_shape=shape).cpu(), kernel)
