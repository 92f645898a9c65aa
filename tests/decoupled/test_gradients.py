"""Derivatives of both parts, against finite differences and against the single network they came from."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call

from decoupled.cases import PooledSkips, redraw, small_convolutions, two_layers
from penstock import GatedNetwork, Hard, Soft, decouple

GENTLE = Soft(beta=2.0, epsilon=0.1)
"""So that finite differences see a smooth function."""

CASES: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "fully connected": (two_layers, (3, 4)),
    "pooling, skips, in place": (PooledSkips, (2, 1, 4, 4)),
    "leaky, pooling, flattened": (small_convolutions, (2, 1, 8, 8)),
    "PReLU": (lambda: nn.Sequential(nn.Linear(4, 6), nn.PReLU(6), nn.Linear(6, 2)), (3, 4)),
    "ReLU6": (lambda: nn.Sequential(nn.Linear(4, 6), nn.ReLU6(), nn.Linear(6, 2)), (3, 4)),
    "SiLU and GELU": (
        lambda: nn.Sequential(nn.Linear(4, 6), nn.SiLU(), nn.Linear(6, 6), nn.GELU(), nn.Linear(6, 2)),
        (3, 4),
    ),
}


def made(name: str, gate: Soft | Hard, own: Soft | Hard, seed: int = 0) -> tuple[GatedNetwork, Tensor]:
    torch.manual_seed(seed)
    make, shape = CASES[name]
    pair = decouple(make().double(), gate, feature_gate=own)
    redraw(pair.feature, seed)
    redraw(pair.value, seed + 1)
    x = torch.randn(shape, dtype=torch.float64)
    pair(x)
    return pair, x


def checked(pair: GatedNetwork, x: Tensor, part: str) -> bool:
    """Finite differences in every parameter of one part, and in the input."""
    names = [name for name, _ in pair.named_parameters() if name.startswith(part)]
    own = [pair.get_parameter(name).detach().clone().requires_grad_() for name in names]

    def outputs(x: Tensor, *parameters: Tensor) -> Tensor:
        return functional_call(pair, dict(zip(names, parameters, strict=True)), (x,))

    return torch.autograd.gradcheck(outputs, (x.clone().requires_grad_(), *own), fast_mode=True)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("part", ["feature", "value"])
def test_both_parts_of_a_soft_gated_network_have_the_derivatives_of_finite_differences(name: str, part: str):
    for own in (Hard(), GENTLE):
        pair, x = made(name, GENTLE, own)
        assert checked(pair, x, part)


@pytest.mark.parametrize("name", ["fully connected", "pooling, skips, in place"])
def test_so_they_have_a_second_time(name: str):
    pair, x = made(name, GENTLE, GENTLE)
    weights = [pair.feature.get_parameter("0.weight" if "fully" in name else "first.weight")]
    names = ["feature.0.weight" if "fully" in name else "feature.first.weight"]

    def outputs(weight: Tensor) -> Tensor:
        return functional_call(pair, {names[0]: weight}, (x,))

    assert torch.autograd.gradgradcheck(outputs, (weights[0].detach().clone().requires_grad_(),))


def test_through_hard_gates_nothing_goes_back_to_the_features():
    pair, x = made("fully connected", Hard(), Hard())
    pair(x).sum().backward()
    assert all(each.grad is None for each in pair.feature.parameters())
    assert all(each.grad is not None for each in pair.value.parameters())


def soft_relu(model: nn.Module, gate: Soft) -> Callable[[Tensor], Tensor]:
    """The single network N(Θ, β; Θ) by hand: q·G(q) in place of every ReLU."""

    def run(x: Tensor) -> Tensor:
        for layer in model.children():
            x = x * gate.value(x) if isinstance(layer, nn.ReLU) else layer(x)
        return x

    return run


def test_a_tied_network_has_the_gradient_of_the_single_soft_relu_network():
    """D Table 3, soft-ReLU: both uses of a weight add up."""
    torch.manual_seed(0)
    model = two_layers().double()
    x = torch.randn(5, 4, dtype=torch.float64)
    pair = decouple(model, GENTLE, feature_gate=GENTLE, tied=True)
    single = soft_relu(model, GENTLE)
    torch.testing.assert_close(pair(x), single(x), rtol=1e-12, atol=1e-14)
    pair(x).square().sum().backward()
    single(x).square().sum().backward()
    gradients = {name.removeprefix("feature."): each.grad for name, each in pair.named_parameters()}
    for name, each in model.named_parameters():
        torch.testing.assert_close(gradients[name], each.grad, rtol=1e-10, atol=1e-12)


def test_with_hard_gates_a_tied_network_is_the_relu_network():
    """D Table 3, ReLU."""
    torch.manual_seed(0)
    model = two_layers()
    x = torch.randn(5, 4)
    pair = decouple(model, tied=True)
    assert torch.equal(pair(x), model(x))
    pair(x).square().sum().backward()
    model(x).square().sum().backward()
    for name, each in pair.named_parameters():
        torch.testing.assert_close(each.grad, model.get_parameter(name.removeprefix("feature.")).grad)
