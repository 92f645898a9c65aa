"""Deep gated networks from their definition (N Section 4, D Table 2), call by call.

The functions of `torch.nn.functional` that modules and models call are replaced while a network runs: first
by ones that note down each pre-activation, then by ones that multiply by what was noted.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from torch import Tensor, nn
from torch.nn import functional

Gate = Callable[[Tensor], Tensor]
"""From pre-activations to gates."""

POOLS = ("max_pool1d", "max_pool2d")


def hard(q: Tensor) -> Tensor:
    """1 where q > 0, else 0."""
    return torch.where(q > 0, torch.ones_like(q), torch.zeros_like(q))


def soft(beta: float, epsilon: float) -> Gate:
    """(1 + ε) σ(βq)."""
    return lambda q: (1 + epsilon) / (1 + torch.exp(-beta * q))


def gates_of(model: nn.Module, x: Tensor, gate: Gate = hard, own: Gate = hard) -> list[Tensor]:
    """What each call of `model` at x multiplies by, in the order of the calls: a gate, slope + (1-slope)·gate
    of a leaky one, or the places that a max-pooling chose. The network itself goes on by `own`.
    """
    seen: list[Tensor] = []

    def rectify(q: Tensor, slope: float) -> Tensor:
        seen.append(slope + (1 - slope) * gate(q))
        return q * (slope + (1 - slope) * own(q))

    def pool(original: Any, q: Tensor, *sizes: Any, **named: Any) -> Tensor:
        named["return_indices"] = True
        out, places = original(q, *sizes, **named)
        seen.append(places)
        return out

    with replaced(rectify, pool), torch.no_grad():
        model(x)
    return seen


def gated(model: nn.Module, x: Tensor, gates: Sequence[Tensor]) -> Tensor:
    """The output of `model` at x where every call multiplies by the gates given."""
    left = list(gates)

    def rectify(q: Tensor, slope: float) -> Tensor:
        return q * left.pop(0)

    def pool(original: Any, q: Tensor, *sizes: Any, **named: Any) -> Tensor:
        places = left.pop(0)
        window = original(q, *sizes, **named)  # for its shape alone
        spread = q.flatten(2).gather(2, places.flatten(2))
        return spread.view(window.shape)

    with replaced(rectify, pool), torch.no_grad():
        output = model(x)
    assert not left, "there were more gates than calls"
    return output


@contextmanager
def replaced(rectify: Callable[[Tensor, float], Tensor], pool: Callable[..., Tensor]) -> Iterator[None]:
    """ReLU, LeakyReLU and max-pooling of every module and every model, inside."""

    def relu(q: Tensor, inplace: bool = False) -> Tensor:
        return rectify(q.clone(), 0.0)

    def leaky_relu(q: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
        return rectify(q.clone(), negative_slope)

    originals = {name: getattr(functional, name) for name in POOLS}

    def pooling(name: str) -> Callable[..., Tensor]:
        return lambda q, *sizes, **named: pool(originals[name], q, *sizes, **named)

    stand_ins: dict[str, Any] = {"relu": relu, "leaky_relu": leaky_relu}
    stand_ins |= {name: pooling(name) for name in POOLS}
    with mock.patch.multiple(functional, **stand_ins):
        yield
