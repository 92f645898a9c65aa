"""The norm of all path values, by one pass: against `npv`, N Definition 2.1."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils import parametrizations, prune

from networks.awkward import Branching, Loop, PositiveWeights
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
from oracle.onepass import Slow
from penstock import PenstockError, adapt, count_paths, decouple, npv, path_norm
from penstock.lab.models.varied import FAMILIES, varied_network

POWERS = [1, 2, 3.5]

#: Those of `networks.exported` whose weights arrive in another way.
READABLE = [
    "convolution 1d, grouped, same",
    "convolution, circular",
    "convolution, depthwise, dilated",
    "convolution, transposed",
    "max-pooling",
    "upsampling",
    "dense",
    "recurrence, written out",
    "einsum",
    "bmm",
    "a plain tensor",
    "literals",
    "a layer called twice",
    "spectral norm",
    "hooks",
    "in place, with an alias",
    "added into a slice",
    "made from shapes",
    "vmap",
]


def assert_norm_of_values(model, shape, powers=POWERS, outputs=1, rel=1e-10):
    for output in range(outputs):
        values = npv(model, input_shape=shape, output=output).detach().double()
        for p in powers:
            found = path_norm(model, p, input_shape=shape, output=output)
            assert found == pytest.approx(float(values.norm(p)), rel=rel)
    log = path_norm(model, powers[0], input_shape=shape, log=True)
    assert math.exp(log) == pytest.approx(path_norm(model, powers[0], input_shape=shape), rel=1e-12)


@settings(max_examples=10)
@given(
    family=st.sampled_from(sorted(FAMILIES)),
    seed=st.integers(0, 999),
    dtype=st.sampled_from([torch.float64, torch.float32]),
)
def test_it_is_the_norm_of_the_listed_values(family, seed, dtype):
    model, shape = varied_network(family, torch.Generator().manual_seed(seed), dtype)
    assert_norm_of_values(model, shape, rel=1e-10 if dtype == torch.float64 else 1e-4)


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (Skipping(outputs=2).double(), (3,)),
        (small_images(), (2, 4, 4)),
        (small_images(nn.AvgPool2d(2, stride=1, padding=1)), (2, 4, 4)),
        (small_images(nn.AvgPool2d(3, stride=2, ceil_mode=True, count_include_pad=False)), (2, 4, 4)),
        (small_images(nn.AvgPool2d(2, stride=1, divisor_override=3)), (2, 4, 4)),
        (small_images(nn.AdaptiveAvgPool2d(3)), (2, 4, 4)),
        (small_images(nn.MaxPool2d(2, stride=1)), (2, 4, 4)),
        (small_images(nn.MaxPool2d(3, padding=1, stride=1, dilation=1, ceil_mode=True)), (2, 4, 4)),
        (small_images(nn.AdaptiveMaxPool2d(3)), (2, 4, 4)),
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
def test_whatever_the_network_is(model, shape):
    assert_norm_of_values(model, shape, powers=[1, 3.0])


@pytest.mark.parametrize("name", READABLE)
def test_however_it_is_written(name):
    model, shape = kept(name)
    if model(torch.ones(2, *shape, dtype=torch.float64)).ndim > 2:
        model = adapt(model, lambda model, x: model(x).flatten(1))
    assert_norm_of_values(model, shape, powers=[2])


@pytest.mark.parametrize(
    "gate", [nn.LeakyReLU(0.3), nn.PReLU(3), nn.ReLU6(), nn.Hardtanh(-2, 1), nn.SiLU(), nn.GELU(), nn.ReLU()]
)
def test_every_gate_is_open(gate):
    model = settled(nn.Sequential(nn.Linear(3, 3), gate, nn.Linear(3, 2), nn.BatchNorm1d(2)))
    assert_norm_of_values(model, (3,), powers=[1, 2])


# Statements


@settings(max_examples=8)
@given(widths=st.lists(st.integers(1, 6), min_size=2, max_size=5), seed=st.integers(0, 99))
def test_at_p_2_it_is_the_output_of_the_squared_weights(widths, seed):
    model = fully_connected(*widths, bias=True, seed=seed)
    squared = nn.Sequential(*(layer for layer in fully_connected(*widths, bias=True, seed=seed)))
    for parameter in squared.parameters():
        parameter.data.square_()
    ones = torch.ones(1, widths[0], dtype=torch.float64)
    assert path_norm(model, 2) == pytest.approx(math.sqrt(squared(ones)[0, 0].item()), rel=1e-12)


def test_with_weights_of_plus_and_minus_one_it_counts_the_paths():
    """‖v‖_p^p = P where every |v| is 1: a ResNet-18, whose count is that of the graph."""
    model = ResNet18(width=2, classes=2).eval()
    for name, module in model.named_modules():
        if isinstance(module, nn.BatchNorm2d):
            assert module.running_var is not None
            assert module.running_mean is not None
            nn.init.constant_(module.running_var, 1 - module.eps)
            nn.init.ones_(module.running_mean)
            nn.init.constant_(module.weight, -1)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Conv2d | nn.Linear):
            signs = torch.randn(
                module.weight.shape, generator=torch.Generator().manual_seed(len(name))
            ).sign()
            module.weight.data = signs
    nn.init.ones_(model.fc.bias)
    # 8×8 images are pooled at one position, by the constant weight 1
    assert path_norm(model, input_shape=(3, 8, 8)) == pytest.approx(
        count_paths(model, input_shape=(3, 8, 8)), rel=1e-5
    )


@pytest.mark.parametrize("p", [1, 2.5])
def test_a_resnet_18_against_a_recursion_position_by_position(p):
    torch.manual_seed(0)
    model = settled(ResNet18(width=2, classes=2))
    assert isinstance(model, ResNet18)
    slow = Slow(lambda weight: np.abs(weight) ** p).network(model, (3, 16, 16)) ** (1 / p)
    for output in (0, 1):
        found = path_norm(model, p, input_shape=(3, 16, 16), output=output)
        assert found == pytest.approx(slow[output], rel=1e-10)


def test_values_that_cancel_in_the_output_do_not_cancel_here():
    model = Inline(lambda m, x: m.lin(x) - m.lin(x))
    layer = model.lin
    size = (layer.weight[0].abs().sum() + layer.bias[0].abs()).item()
    assert path_norm(model) == pytest.approx(2 * size, rel=1e-6)


def test_a_pair_has_the_norm_of_its_value_network():
    pair = decouple(fully_connected(3, 4, 1, seed=1))
    pair.value.load_state_dict(fully_connected(3, 4, 1, seed=2).state_dict())
    assert path_norm(pair, 2) == path_norm(fully_connected(3, 4, 1, seed=2), 2)


def test_weights_of_0_leave_nothing():
    model = nn.Linear(3, 1)
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    assert path_norm(model) == 0
    assert path_norm(model, log=True) == -math.inf
    assert path_norm(settled(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2, affine=False)))) > 0


def test_the_weights_of_a_layer_computed_from_others_are_those_that_it_uses():
    model = PositiveWeights().double()
    model.scale = model.scale.double()
    assert_norm_of_values(model, (4,))


def test_loops_over_one_layer_count_each_use():
    """The recurrence as a graph cannot be listed; unrolled by hand it is h ← |W| (1, h) + |b|."""
    torch.manual_seed(0)
    model = Loop().double()
    weight, bias = model.inner.weight.detach().abs(), model.inner.bias.detach().abs()
    h = torch.zeros(5, dtype=torch.float64)
    for _ in range(4):
        h = weight @ torch.cat([torch.ones(3, dtype=torch.float64), h]) + bias
    expected = model.last.weight[0].abs() @ h + model.last.bias[0].abs()
    assert path_norm(model, input_shape=(3,)) == pytest.approx(expected.item(), rel=1e-12)


# Numbers of any size


def chain(layers: int, weight: float, width: int = 3) -> nn.Sequential:
    body = [part for _ in range(layers) for part in (nn.Linear(width, width, bias=False), nn.ReLU())]
    model = nn.Sequential(*body, nn.Linear(width, 1, bias=False))
    for parameter in model.parameters():
        nn.init.constant_(parameter, weight)
    return model


@pytest.mark.parametrize(("weight", "p"), [(1e5, 1), (1e-5, 2), (1e-5, 20.0)])
def test_a_deep_network_needs_logarithms(weight, p):
    model = chain(80, weight)
    expected = 81 * math.log(3) / p + 81 * math.log(weight)
    assert path_norm(model, p, log=True) == pytest.approx(expected, rel=1e-6)
    with pytest.raises(PenstockError, match=r"e\^.* log=True"):
        path_norm(model, p)


def test_a_sum_beyond_float64_may_have_a_root_within():
    """Σ|v|^20 is about e^-1100 here, and its root an ordinary number."""
    model = chain(40, 0.25).double()
    assert path_norm(model, 20.0) == pytest.approx(
        math.exp(41 * (math.log(3) / 20 + math.log(0.25))), rel=1e-9
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_it_is_reckoned_in_float64_whatever_the_model_is(dtype):
    model = fully_connected(3, 4, 2, 1, bias=True, dtype=dtype)
    assert path_norm(model, 2) == pytest.approx(path_norm(model.double(), 2), rel=1e-12)


def test_the_model_and_the_random_state_are_left_as_they_were():
    model, state = fully_connected(3, 4, 1, bias=True).train(), torch.random.get_rng_state()
    before = [p.detach().clone() for p in model.parameters()]
    path_norm(model)
    assert model.training
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(p, q) and p.grad is None for p, q in zip(model.parameters(), before, strict=True))


# Refusals


@pytest.mark.parametrize("p", [0.5, 0, -1, math.inf, math.nan])
def test_what_is_no_power_is_refused(p):
    with pytest.raises(PenstockError, match="a finite number from 1 on"):
        path_norm(nn.Linear(2, 1), p)


def test_a_module_that_decides_by_its_input_is_refused():
    with pytest.raises(PenstockError, match=r"call of bool \(line \d+ of awkward.py\) decides.*active_paths"):
        path_norm(Branching())


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda m, x: torch.sigmoid(m.lin(x)), "the call of sigmoid .* not affine"),
        (lambda m, x: m.lin(x) * m.lin(x), "multiplies two signals"),
        (lambda m, x: m.lin(x) / x.shape[0], "others in every run, or for every number of examples"),
        (lambda m, x: m.lin(x) * float(np.random.rand()), "others in every run"),
        (lambda m, x: m.lin(x) + x.mean(0), "mixes the examples"),
    ],
    ids=["sigmoid", "product", "size of the batch", "chance", "mean over examples"],
)
def test_what_leads_no_path_is_refused(function, words):
    with pytest.raises(PenstockError, match=words):
        path_norm(Inline(function))


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (nn.Sequential(nn.Conv2d(1, 1, 1), nn.Flatten()), {}, r"input_shape=\(3, 32, 32\)"),
        (nn.Linear(3, 2), {"output": 2}, "numbered 0 to 1"),
        (nn.Linear(3, 2), {"input_shape": (5,)}, "takes 3 features and is given 5"),
        (nn.Conv1d(1, 1, 1), {"input_shape": (1, 4)}, r"flatten\(1\)"),
        (nn.Sequential(nn.Linear(2, 2), nn.Dropout()), {}, r"1 \(Dropout\) is in training mode"),
        (nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)), {}, r"1 \(BatchNorm1d\) is in training mode"),
    ],
)
def test_a_question_that_does_not_fit_is_refused(model, options, words):
    with pytest.raises(PenstockError, match=words):
        path_norm(model, **options)
