"""What a gate is: the factor between a unit's pre-activation q and its output q·G(q).

`Hard` is the ReLU's (one bit), `Soft` the papers' smooth stand-in for it, `Normal` and `NormalTanh` the
GELU's. A gate knows its value and its slope, the derivative of the value by q.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real

import torch
from jaxtyping import Float
from torch import Tensor

from penstock.errors import PenstockError

__all__ = ["Gate", "Hard", "Normal", "NormalTanh", "Soft"]


class Gate(ABC):
    """A function of the pre-activation that multiplies a signal."""

    @abstractmethod
    def value(self, q: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """G(q), in the dtype of q."""

    @abstractmethod
    def slope(self, q: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """∂G/∂q, in the dtype of q."""


@dataclass(frozen=True)
class Hard(Gate):
    """The ReLU's gate, G(q) = 1 where q > 0 and 0 elsewhere (N Table 1). Its slope is 0 wherever it has one.

    >>> Hard().value(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 1.])
    """

    def value(self, q: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        return (q > 0).to(q.dtype)

    def slope(self, q: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        return torch.zeros_like(q)

    def __str__(self) -> str:
        return "hard"


@dataclass(frozen=True)
class Soft(Gate):
    """The soft gate, G(q) = (1 + ε)·σ(βq), with slope (1 + ε)·β·σ(βq)·σ(-βq) (D Table 2, N Table 4).

    The larger `beta`, the nearer to `Hard`; `epsilon` lets an open gate reach 1 and go past it. SiLU's gate
    is `Soft(beta=1, epsilon=0)`.

    >>> Soft().value(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([0.0198, 0.5500, 1.0996])
    """

    beta: float | int = 4.0
    """How steep the gate is."""
    epsilon: float | int = 0.1
    """How far above 1 it can go."""

    def __post_init__(self):
        # beyond float32's range β·0 would be NaN in the dtypes that most models have
        if not (isinstance(self.beta, Real) and 0 < self.beta <= 1e30):
            raise PenstockError(
                f"a soft gate's beta must be a number above 0 and at most 1e30, not {self.beta!r}"
            )
        if not (isinstance(self.epsilon, Real) and self.epsilon >= 0 and math.isfinite(self.epsilon)):
            raise PenstockError(
                f"a soft gate's epsilon must be a finite number and at least 0, not {self.epsilon!r}"
            )

    def value(self, q: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        return ((1 + self.epsilon) * torch.sigmoid(self.beta * _at_least_float32(q))).to(q.dtype)

    def slope(self, q: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        # σ(-βq) rather than 1 - σ(βq), which is 0 far too early
        steep = self.beta * _at_least_float32(q)
        slope = torch.sigmoid(steep) * torch.sigmoid(-steep) * self.beta * (1 + self.epsilon)
        return slope.to(q.dtype)

    def __str__(self) -> str:
        return f"soft β={self.beta:g} ε={self.epsilon:g}"


@dataclass(frozen=True)
class Normal(Gate):
    """GELU's gate, the normal distribution function Φ(q) = ½(1 + erf(q/√2)), with the normal density as its
    slope.
    """

    def value(self, q: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        # not by erfc, which knows the lower tail better: this is the factor that torch's GELU has
        return (0.5 * (1 + torch.erf(_at_least_float32(q) * math.sqrt(0.5)))).to(q.dtype)

    def slope(self, q: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        wide = _at_least_float32(q)
        return (torch.exp(-0.5 * wide * wide) / math.sqrt(2 * math.pi)).to(q.dtype)

    def __str__(self) -> str:
        return "GELU"


@dataclass(frozen=True)
class NormalTanh(Gate):
    """The gate of GELU's approximation, ½(1 + tanh(√(2/π)·(q + 0.044715 q³))), and its slope."""

    def value(self, q: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        return (0.5 * (1 + torch.tanh(self._inner(_at_least_float32(q))))).to(q.dtype)

    def slope(self, q: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        # ½ sech²(u) u′ = 2σ(2u)σ(-2u) u′; beyond |q| = 1e4 the sech² is 0 in every dtype and u′ may overflow
        near = _at_least_float32(q).clamp(-1e4, 1e4)
        inner = 2 * self._inner(near)
        by_q = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * near * near)
        return (2 * torch.sigmoid(inner) * torch.sigmoid(-inner) * by_q).to(q.dtype)

    def __str__(self) -> str:
        return "GELU by tanh"

    @staticmethod
    def _inner(q: Tensor) -> Tensor:
        return math.sqrt(2 / math.pi) * (q + 0.044715 * q * q * q)


def _at_least_float32(q: Tensor) -> Tensor:
    # torch's own activations compute half precision so; in it, β and q³ overflow
    return q.float() if q.dtype in (torch.float16, torch.bfloat16) else q
