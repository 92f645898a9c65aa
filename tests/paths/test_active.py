"""How many paths are open: N Definition 2.1, counted by one pass and compared with a list."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils import parametrizations, prune
from torch.utils.data import DataLoader, TensorDataset

from networks.awkward import AliasedInPlace, Branching, Experts, PositiveWeights, Recovering
from networks.convolutional import (
    Concatenating,
    SmallResNet,
    TiedAutoencoder,
    circular,
    settled,
    small_images,
)
from networks.exported import Inline, kept
from networks.fully_connected import Skipping, fully_connected
from networks.residual import ResNet18
from oracle.onepass import Slow, gates_in_order
from penstock import PenstockError, Soft, active_paths, adapt, count_paths, decouple, npf
from penstock.lab.models.varied import FAMILIES, varied_network

DTYPES = [torch.float64, torch.float32]

#: Those of `networks.exported` that lead paths on, each written in another way.
READABLE = [
    "convolution 1d, grouped, same",
    "convolution 3d",
    "convolution, circular",
    "convolution, reflecting",
    "convolution, depthwise, dilated",
    "convolution, transposed",
    "channel shuffle",
    "max-pooling",
    "pooling, adaptive",
    "upsampling",
    "dense",
    "recurrence, written out",
    "einsum",
    "bmm",
    "a buffer as weight",
    "literals",
    "a layer called twice",
    "orthogonal",
    "a number out of a parameter",
    "hooks",
    "in place, with an alias",
    "in place on the input",
    "added into a slice",
    "made from shapes",
    "batch and positions as one",
    "bfloat16 inside",
    "vmap",
    "remembering",
]


def assert_counted_as_listed(model, x):
    listed = (npf(model, x) != 0).sum(1)
    assert active_paths(model, x).tolist() == listed.tolist()
    logs = active_paths(model, x, log=True)
    torch.testing.assert_close(logs.exp(), listed.double(), rtol=1e-12, atol=0)


def normal(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@settings(max_examples=16)
@given(family=st.sampled_from(sorted(FAMILIES)), seed=st.integers(0, 999), dtype=st.sampled_from(DTYPES))
def test_as_many_are_counted_as_are_open_in_the_list(family, seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    model, shape = varied_network(family, generator, dtype)
    assert_counted_as_listed(model, normal(5, *shape, seed=seed, dtype=dtype))


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (Skipping(outputs=2).double(), (3,)),
        (small_images(), (2, 4, 4)),
        (small_images(nn.AvgPool2d(2, stride=1, padding=1)), (2, 4, 4)),
        (small_images(nn.AvgPool2d(3, stride=2, ceil_mode=True, count_include_pad=False)), (2, 4, 4)),
        (small_images(nn.MaxPool2d(2, stride=1)), (2, 4, 4)),
        (small_images(nn.MaxPool2d(3, padding=1, stride=1, ceil_mode=True)), (2, 4, 4)),
        (small_images(nn.AdaptiveMaxPool2d(3)), (2, 4, 4)),
        (SmallResNet(), (1, 2, 2)),
        (Concatenating(), (1, 3)),
        (TiedAutoencoder(), (3,)),
        (circular(bias=True), (1, 3)),
        (AliasedInPlace().double(), (4,)),
        (PositiveWeights().double(), (4,)),
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
def test_whatever_the_network_is(model, shape):
    if isinstance(model, PositiveWeights):
        model.scale = model.scale.double()
    assert_counted_as_listed(model, normal(4, *shape))


@pytest.mark.parametrize("name", READABLE)
def test_however_it_is_written(name):
    model, shape = kept(name)
    x = normal(3, *shape)
    if model(x).ndim > 2:
        model = adapt(model, lambda model, x: model(x).flatten(1))
    assert_counted_as_listed(model, x)


@settings(max_examples=8)
@given(
    gates=st.lists(
        st.sampled_from([nn.LeakyReLU, nn.PReLU, nn.ReLU6, nn.Hardtanh, nn.SiLU, nn.GELU, nn.ReLU]),
        min_size=1,
        max_size=3,
    ),
    norm=st.booleans(),
    seed=st.integers(0, 99),
)
def test_whatever_the_gates_are(gates, norm, seed):
    torch.manual_seed(seed)
    layers: list[nn.Module] = []
    for gate in gates:
        layers += [nn.Linear(3, 3), nn.BatchNorm1d(3) if norm else nn.Identity(), gate()]
    model = settled(nn.Sequential(*layers, nn.Linear(3, 2)), seed)
    assert_counted_as_listed(model, 4 * normal(6, 3, seed=seed))


def test_relu6_has_three_states_and_the_held_6_starts_a_path():
    """Below 0 nothing passes, in between the path from the input, above 6 the one that starts there."""
    assert active_paths(nn.ReLU6(), torch.tensor([[-1.0], [3.0], [7.0]])).tolist() == [0, 1, 1]
    one = nn.Sequential(nn.Linear(5, 1, bias=False), nn.ReLU6())
    nn.init.ones_(one[0].weight)  # pyright: ignore[reportArgumentType]
    assert active_paths(one, torch.tensor([-1.0, 1.0, 2.0])[:, None].expand(3, 5)).tolist() == [0, 5, 1]


def test_a_slope_of_0_shuts_and_any_other_does_not():
    gate = nn.PReLU(2)
    gate.weight.data = torch.tensor([0.0, -0.5])
    model = nn.Sequential(gate, nn.Linear(2, 1, bias=False))
    assert active_paths(model, torch.tensor([[-1.0, -1.0], [1.0, 1.0]])).tolist() == [1, 2]


@pytest.mark.parametrize("widths", [(3, 4, 4, 2), (50, 30, 30, 30, 1)])
def test_with_every_gate_open_all_paths_are(widths):
    linear = nn.Sequential(
        *(layer for layer in fully_connected(*widths, bias=True) if type(layer) is not nn.ReLU)
    )
    x = normal(2, widths[0])
    assert active_paths(linear, x).tolist() == [count_paths(linear)] * 2


@settings(max_examples=12)
@given(widths=st.lists(st.integers(1, 30), min_size=2, max_size=6), seed=st.integers(0, 99))
def test_without_biases_it_is_the_product_of_open_gates_by_layer(widths, seed):
    """A fully connected network has d_in · Π_l (open gates of layer l) open paths."""
    model = fully_connected(*widths, 1, seed=seed)
    x = normal(4, widths[0], seed=seed)
    expected, h = torch.full((4,), float(widths[0]), dtype=torch.float64), x
    for layer in model:
        h = layer(h)
        if isinstance(layer, nn.ReLU):
            expected *= (h > 0).sum(1)
    assert active_paths(model, x).tolist() == expected.tolist()


# What counts, and what does not


def test_a_weight_counts_by_being_there():
    model = nn.Linear(3, 1)
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    assert active_paths(model, torch.ones(1, 3)).tolist() == [4]


def test_an_open_path_from_an_entry_that_is_0_is_open():
    assert active_paths(nn.Linear(3, 1, bias=False), torch.zeros(1, 3)).tolist() == [3]


def test_paths_that_cancel_are_two():
    assert active_paths(Inline(lambda m, x: m.lin(x) - m.lin(x)), torch.ones(1, 4)).tolist() == [10]


def test_padding_leads_no_path_and_a_constant_starts_one():
    model = nn.Conv1d(1, 1, 3, padding=1, bias=False)
    flat = adapt(model, lambda model, x: model(x).flatten(1))
    x = torch.ones(1, 1, 4)
    assert [int(active_paths(flat, x, output=o)) for o in range(4)] == [2, 3, 3, 2]
    padded = Inline(lambda m, x: F.pad(x, (1, 1), value=2.0))
    assert [int(active_paths(padded, torch.ones(1, 4), output=o)) for o in (0, 1, 5)] == [1, 1, 1]
    zeros = Inline(lambda m, x: F.pad(x, (1, 1)))
    assert int(active_paths(zeros, torch.ones(1, 4))) == 0


def test_a_parameter_that_is_added_starts_a_path_at_0_too_and_a_constant_0_does_not():
    class Plus(nn.Module):
        def __init__(self, shift):
            super().__init__()
            self.shift = shift

        def forward(self, x):
            return x + self.shift

    x = torch.ones(1, 2)
    assert active_paths(Plus(nn.Parameter(torch.zeros(2))), x).tolist() == [2]
    assert active_paths(Plus(torch.zeros(2)), x).tolist() == [1]
    assert active_paths(Plus(torch.ones(2)), x).tolist() == [2]


# Numbers of any size


def chain(layers: int, width: int = 50) -> nn.Sequential:
    """LeakyReLU all along, so that every path is open."""
    torch.manual_seed(0)
    body = [part for _ in range(layers) for part in (nn.Linear(width, width, bias=False), nn.LeakyReLU())]
    return nn.Sequential(*body, nn.Linear(width, 1, bias=False))


def test_four_hundred_layers_need_logarithms():
    model, x = chain(400), torch.ones(2, 50)
    logs = active_paths(model, x, log=True)
    torch.testing.assert_close(logs, torch.full_like(logs, 401 * math.log(50)), rtol=1e-12, atol=0)
    with pytest.raises(PenstockError, match="log=True"):
        active_paths(chain(200), x)


def test_what_is_small_beside_something_large_is_not_lost():
    """Very many paths and one side by side, in one product: an output that reads both, and one that reads the
    one alone."""

    class Beside(nn.Module):
        def __init__(self):
            super().__init__()
            self.deep, self.kernel = chain(200), nn.Parameter(torch.ones(1, 1, 2))

        def forward(self, x):
            both = torch.cat([self.deep(x), x[:, :1], x[:, :1]], 1)
            return F.conv1d(both[:, None], self.kernel).flatten(1)

    model, x = Beside(), torch.ones(1, 50)
    assert float(active_paths(model, x, log=True)) == pytest.approx(201 * math.log(50), rel=1e-12)
    assert float(active_paths(model, x, output=1, log=True)) == pytest.approx(math.log(2), rel=1e-12)


def test_without_an_open_path_the_logarithm_is_minus_infinity():
    assert active_paths(nn.ReLU(), torch.tensor([[-1.0]]), log=True).tolist() == [-math.inf]


def test_a_resnet_18_against_a_recursion_position_by_position():
    torch.manual_seed(0)
    model = settled(ResNet18(width=2, classes=2))
    assert isinstance(model, ResNet18)
    x = normal(3, 3, 8, 8)
    slow = [Slow(np.ones_like, gates_in_order(model, row)).network(model, (3, 8, 8)) for row in x]
    for output in (0, 1):
        expected = torch.tensor([row[output] for row in slow])
        torch.testing.assert_close(active_paths(model, x, output=output), expected, rtol=1e-13, atol=0)


# Modules that no graph can hold


def test_control_flow_may_depend_on_the_data():
    torch.manual_seed(0)
    model = Branching()
    x = torch.randn(4, 4, generator=torch.Generator().manual_seed(0))
    for first in (1.0, -1.0):
        x[0, 0] = first
        h = torch.relu(model.first(x))
        opened = (h > 0).double()
        counts = 5 * opened.sum(1)
        if first > 0:
            counts = (counts + 1) * (torch.relu(model.more(h)) > 0).sum(1)
        assert active_paths(model, x).tolist() == (counts + 1).tolist()


def test_a_way_that_is_given_up_leads_no_paths():
    torch.manual_seed(0)
    model, x = Recovering(), normal(3, 4, dtype=torch.float32)
    taken = nn.Sequential(nn.ReLU(), model.sound)
    assert active_paths(model, x).tolist() == active_paths(taken, x).tolist()


# Decoupled networks


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (fully_connected(3, 4, 4, 2, bias=True), (3,)),
        (SmallResNet(), (1, 4, 4)),
        (small_images(nn.MaxPool2d(2, stride=1)), (2, 4, 4)),
        (settled(nn.Sequential(nn.Linear(3, 3), nn.ReLU6(), nn.Linear(3, 2), nn.LeakyReLU())), (3,)),
    ],
    ids=["fully connected", "residual", "max-pooling", "three states"],
)
def test_a_copied_pair_has_the_paths_of_its_model(model, shape):
    x = 3 * normal(4, *shape)
    assert active_paths(decouple(model), x).tolist() == active_paths(model, x).tolist()


def test_a_pair_has_the_value_networks_paths_under_the_features_gates():
    feature, value = fully_connected(3, 4, 4, 1, seed=1), fully_connected(3, 4, 4, 1, seed=2)
    pair = decouple(feature)
    pair.value.load_state_dict(value.state_dict())
    x = normal(5, 3)
    assert active_paths(pair, x).tolist() == active_paths(feature, x).tolist()
    assert active_paths(pair, x).tolist() != active_paths(value, x).tolist()
    assert active_paths(decouple(feature, pad=3), x).tolist() == [
        9 * n for n in active_paths(feature, x).tolist()
    ]


@pytest.mark.parametrize("feature_gate", [Soft(), Soft(beta=1.0)])
def test_soft_gates_are_open(feature_gate):
    model = fully_connected(3, 4, 4, 1, bias=True)
    pair = decouple(model, Soft(), feature_gate=feature_gate)
    assert active_paths(pair, normal(3, 3)).tolist() == [count_paths(model)] * 3


def test_gates_from_outside():
    first, second = normal(5, 4, seed=1) > 0, normal(5, 4, seed=2) > 0
    pair = decouple(fully_connected(3, 4, 4, 1), gates=[first, second])
    assert active_paths(pair, normal(5, 3)).tolist() == (3 * first.sum(1) * second.sum(1)).tolist()


def test_a_feature_network_may_be_of_any_making():
    class Emitter(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.last = nn.LayerNorm(3), nn.Linear(3, 4)

        def forward(self, x):
            return [torch.softmax(self.last(self.norm(x)), 1) > 0.25]

    torch.manual_seed(0)
    emitter, x = Emitter().double(), normal(5, 3)
    pair = decouple(fully_connected(3, 4, 1), gates=emitter)
    assert active_paths(pair, x).tolist() == (3 * emitter(x)[0].sum(1)).tolist()


# Inputs, and what stays as it was


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_counts_are_float64_whatever_the_model_is(dtype):
    model, x = fully_connected(4, 6, 1, bias=True, dtype=dtype), normal(3, 4).to(dtype)
    counts = active_paths(model, x)
    assert counts.dtype == torch.float64
    assert counts.tolist() == (npf(model, x) != 0).sum(1).tolist()


def test_arrays_and_loaders_give_what_the_tensor_gives():
    model, x = fully_connected(2, 3, 1, bias=True), normal(7, 2)
    expected = active_paths(model, x).tolist()
    assert active_paths(model, x.numpy()).tolist() == expected
    loader = DataLoader(TensorDataset(x, torch.zeros(7)), batch_size=3)
    assert active_paths(model, loader).tolist() == expected


def test_the_model_its_input_and_the_random_state_are_left_as_they_were():
    model = nn.Sequential(
        nn.ReLU(inplace=True), nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 1)
    ).train()
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    x, state = torch.randn(4, 3), torch.random.get_rng_state()
    before, found = x.clone(), [p.detach().clone() for p in model.parameters()]
    active_paths(model, x)
    assert model.training
    assert torch.equal(x, before)
    assert torch.equal(torch.random.get_rng_state(), state)
    for parameter, old in zip(model.parameters(), found, strict=True):
        assert torch.equal(parameter, old)
        assert parameter.grad is not None
        assert bool((parameter.grad == 1).all())


# Refusals

REFUSED = {
    "sigmoid": (
        lambda m, x: m.lin(torch.sigmoid(x)),
        r"the call of sigmoid \(line \d+ of test_active.py\) is not",
    ),
    "soft-max": (lambda m, x: torch.softmax(m.lin(x), 1), "the call of softmax .* not affine"),
    "LayerNorm": (lambda m, x: F.layer_norm(x, (4,)), "the call of layer_norm .* not affine"),
    "two signals": (lambda m, x: m.lin(x) * x, "the call of mul .* multiplies two signals"),
    "two matrices": (lambda m, x: (x[:, :, None] @ x[:, None])[:, 0], "matmul .* multiplies two signals"),
    "a quotient": (lambda m, x: m.lin.weight[0] / x, "div.* divides by a signal"),
    "a gate by hand": (lambda m, x: x * (x > 0), "the call of gt .* not affine"),
    "a gate by index": (lambda m, x: x.masked_fill(x < 0, 0), "the call of lt .* not affine"),
    "a maximum": (lambda m, x: torch.maximum(x, m.lin(x)), "the call of maximum .* not affine"),
    "a sort": (lambda m, x: x.sort(1).values, "the call of sort .* not affine"),
    "batch statistics": (lambda m, x: F.batch_norm(x, None, None, training=True), "normalizes by statistics"),
    "a number": (lambda m, x: x * x.max().item(), "the call of item .* takes numbers out"),
    "numbers": (lambda m, x: x + torch.tensor(x.tolist()), "the call of tolist .* takes numbers out"),
    "NumPy": (lambda m, x: x + torch.from_numpy(x.numpy() ** 2), "the call of numpy .* takes numbers out"),
    "chance": (lambda m, x: F.dropout(m.lin(x)), "dropout .* draws at random"),
    "a mean over examples": (lambda m, x: x - m.lin(x).mean(0), "mixes the examples"),
    "a neighbour": (lambda m, x: x + x.roll(1, 0), "mixes the examples"),
    "no input": (lambda m, x: m.lin.weight[:3], "does not depend on its input"),
    "whole numbers": (lambda m, x: x.argmax(1, keepdim=True), "argmax .* not affine"),
    "positions": (lambda m, x: x[:, None].expand(-1, 2, -1), r"examples × 2 × 4.*flatten\(1\)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_leads_no_path_is_refused_by_name_and_place(name):
    function, words = REFUSED[name]
    with pytest.raises(PenstockError, match=words):
        active_paths(Inline(function), normal(3, 4, dtype=torch.float32))


def test_what_leads_to_no_output_is_not_refused():
    model = Inline(lambda m, x: (torch.softmax(x, 1), m.lin(x))[1])
    assert active_paths(model, torch.ones(1, 4)).tolist() == [5]


def test_examples_that_are_sent_different_ways_by_a_mask_are_refused():
    with pytest.raises(PenstockError, match=r"the call of gt .* not affine"):
        active_paths(Experts(), normal(4, 4, dtype=torch.float32))


@pytest.mark.parametrize("output", [-1, 2])
def test_an_output_that_is_not_there_is_refused(output):
    with pytest.raises(PenstockError, match="numbered 0 to 1"):
        active_paths(nn.Linear(3, 2), torch.ones(1, 3), output=output)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_on_a_gpu_counts_are_as_on_the_cpu():
    model, x = small_images(nn.MaxPool2d(2, stride=1)), normal(4, 2, 4, 4)
    expected = active_paths(model, x)
    assert active_paths(model.cuda(), x.cuda()).tolist() == expected.tolist()
