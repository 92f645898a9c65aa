"""`sensitivity`: |∂G/∂q| · max_θ |∂q/∂θ|, against one gradient a unit and example."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from networks.convolutional import TiedAutoencoder
from networks.fully_connected import fully_connected
from oracle.sensitivity import largest_gradient
from penstock import PenstockError, Soft, capture, decouple, sensitivity
from penstock.gates.gate import Normal

SOFT = Soft(beta=2.0, epsilon=0.3)


def inputs(n, *shape, seed=0):
    return torch.randn(n, *shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def agree(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12)


@given(
    widths=st.lists(st.integers(1, 5), min_size=3, max_size=5),
    n=st.integers(1, 3),
    bias=st.booleans(),
    soft_feature=st.booleans(),
    seed=st.integers(0, 99),
)
def test_a_pairs_gates_are_as_sensitive_as_their_gradients_say(widths, n, bias, soft_feature, seed):
    model = fully_connected(*widths, bias=bias, seed=seed, dtype=torch.float64)
    x = inputs(n, widths[0], seed=seed)
    pair = decouple(model, SOFT, feature_gate=SOFT) if soft_feature else decouple(model, SOFT)
    found = sensitivity(pair, x)
    signal, expected = x, []
    for layer in model:
        if isinstance(layer, nn.ReLU):
            expected.append(SOFT.slope(signal).abs() * largest_gradient(signal, list(model.parameters())))
            signal = signal * SOFT.value(signal) if soft_feature else signal.relu()
        else:
            signal = layer(signal)
    for ours, its in zip(found.values(), expected, strict=True):
        agree(ours, its)
    assert list(found) == [name for name in capture(pair, x) if name.startswith("value.")]


def test_a_tied_pair_counts_what_flows_through_the_gates_alone():
    model, x = fully_connected(3, 4, 4, 1, dtype=torch.float64), inputs(3, 3)
    tied = decouple(model, SOFT, feature_gate=SOFT, tied=True)
    apart = decouple(model, SOFT, feature_gate=SOFT)
    for ours, its in zip(sensitivity(tied, x).values(), sensitivity(apart, x).values(), strict=True):
        agree(ours, its)


def test_silu_and_gelu_behind_convolutions_and_normalization():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 2, 2), nn.BatchNorm2d(2), nn.SiLU(inplace=True), nn.Flatten(), nn.Linear(8, 3), nn.GELU()
    )
    model, x = model.double().eval(), inputs(2, 1, 3, 3)
    first = model[1](model[0](x))
    second = model[4](F.silu(first).flatten(1))
    found = sensitivity(model, x)
    assert list(found) == ["2", "5"]
    parameters = list(model.parameters())
    agree(found["2"], Soft(1.0, 0.0).slope(first).abs() * largest_gradient(first, parameters))
    agree(found["5"], Normal().slope(second).abs() * largest_gradient(second, parameters))


def test_a_weight_that_is_used_twice_counts_whole():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x):
            return F.silu(self.layer(F.silu(self.layer(x))))

    torch.manual_seed(1)
    model, x = Twice().double(), inputs(3, 3)
    last = model.layer(F.silu(model.layer(x)))
    found = sensitivity(model, x)["silu:2"]
    agree(found, Soft(1.0, 0.0).slope(last).abs() * largest_gradient(last, list(model.parameters())))


def test_a_weight_that_is_also_used_transposed_counts_whole():
    class Decoding(TiedAutoencoder):
        def forward(self, x):
            return F.silu(super().forward(x))

    model, x = Decoding(), inputs(3, 3)
    q = TiedAutoencoder.forward(model, x)
    found = sensitivity(model, x)["silu"]
    agree(found, Soft(1.0, 0.0).slope(q).abs() * largest_gradient(q, list(model.parameters())))


def test_gates_of_fixed_features_are_sensitive_too_and_the_model_is_left_as_it_was():
    pair = decouple(fully_connected(3, 4, 1, dtype=torch.float64), SOFT, train="value")
    x = inputs(2, 3)
    found = sensitivity(pair, x)
    assert all(bool((each > 0).all()) for each in found.values())
    assert not any(parameter.requires_grad for parameter in pair.feature.parameters())
    assert all(parameter.grad is None for parameter in pair.parameters())


def test_batches_make_what_all_examples_make():
    pair, x = decouple(fully_connected(3, 4, 4, 1, dtype=torch.float64), SOFT), inputs(5, 3)
    loader = torch.utils.data.DataLoader(x, batch_size=2)  # pyright: ignore[reportArgumentType]
    for ours, its in zip(sensitivity(pair, loader).values(), sensitivity(pair, x).values(), strict=True):
        agree(ours, its)


def test_networks_without_soft_gates_or_without_a_feature_network_are_refused():
    model, x = fully_connected(3, 4, 1, dtype=torch.float64), inputs(2, 3)
    with pytest.raises(PenstockError, match=r"no soft gates.*decouple\(model, Soft\(\)\)"):
        sensitivity(model, x)
    with pytest.raises(PenstockError, match="come from outside"):
        sensitivity(decouple(model, gates=[torch.rand(2, 4).double()]), x)
