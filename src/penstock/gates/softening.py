"""What a ReLU-like function's gates become when another gate takes the place of its own (D Table 2).

| function | gates with `Hard()` | gates with a soft G |
|---|---|---|
| ReLU | its own | G(q) |
| LeakyReLU, PReLU | their own | slope + (1 - slope)·G(q) |
| ReLU6, hardtanh | their own | open by G(q - low) - G(q - high), and the ends held in proportion |
| max-pooling, absolute value, SiLU, GELU | their own | their own |
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from penstock.gates.gate import Gate, Hard
from penstock.gates.kind import Kind
from penstock.gates.kinds import Clipped, Rectifier, Smooth

__all__ = ["Leaking", "SoftClipped", "softened"]


def softened(kind: Kind, gate: Gate) -> Kind:
    """The kind of the gates that `gate` makes for a function whose own gates are of this kind."""
    match gate, kind:
        case Hard(), _:
            return kind
        case _, Rectifier(slope=Tensor()):
            return Leaking(gate, kind)
        case _, Rectifier():
            return Leaking(gate, kind) if kind.slope else Smooth(gate)
        case _, Clipped():
            return SoftClipped(gate, kind)
    return kind


@dataclass(frozen=True)
class Leaking(Kind):
    """A LeakyReLU's or PReLU's gate in another gate's way: slope + (1 - slope)·G(q). The pattern is its
    value.
    """

    hard: ClassVar[bool] = False

    gate: Gate
    of: Rectifier
    """Whose slopes these are."""

    def read(self, q: Float[Tensor, "n *shape"]) -> Float[Tensor, "n *shape"]:
        slope = self.of.slope_for(q).to(q.dtype)
        return slope + (1 - slope) * self.gate.value(q)

    def apply(
        self, q: Float[Tensor, "n *shape"], pattern: Float[Tensor, "n *shape"]
    ) -> Float[Tensor, "n *shape"]:
        return q * pattern

    def value(self, pattern: Float[Tensor, "n *shape"]) -> Float[Tensor, "n *shape"]:
        return pattern

    def steepness(self, q: Float[Tensor, "n *shape"]) -> Float[Tensor, "n *shape"]:
        return (1 - self.of.slope_for(q).to(q.dtype)) * self.gate.slope(q)

    def detached(self) -> "Leaking":
        return Leaking(self.gate, self.of.detached())

    def __str__(self) -> str:
        return f"{self.of} with {self.gate}"


@dataclass(frozen=True)
class SoftClipped(Kind):
    """A ReLU6 or hardtanh that opens and closes smoothly: with a = G(q - low) and b = G(q - high),

    output = (a - b)·q + (1 - a)·low + b·high.

    For a gate that is 0 or 1 this is the function itself. The pattern holds two numbers for each unit: what
    multiplies q, and what is added.
    """

    hard: ClassVar[bool] = False

    gate: Gate
    of: Clipped
    """Whose ends these are."""

    def read(self, q: Float[Tensor, "n *shape"]) -> Float[Tensor, "n *shape 2"]:
        opened, closed = self.gate.value(q - self.of.low), self.gate.value(q - self.of.high)
        held = (1 - opened) * self.of.low + closed * self.of.high
        return torch.stack([opened - closed, held], dim=-1)

    def apply(
        self, q: Float[Tensor, "n *shape"], pattern: Float[Tensor, "n *shape 2"]
    ) -> Float[Tensor, "n *shape"]:
        return q * pattern[..., 0] + pattern[..., 1]

    def value(self, pattern: Float[Tensor, "n *gates"]) -> Float[Tensor, "n *gates"]:
        # what is held is no factor
        return pattern * torch.tensor([1, 0], dtype=pattern.dtype, device=pattern.device)

    def steepness(self, q: Float[Tensor, "n *shape"]) -> Float[Tensor, "n *shape 2"]:
        opening, closing = self.gate.slope(q - self.of.low), self.gate.slope(q - self.of.high)
        return torch.stack([opening - closing, torch.zeros_like(q)], dim=-1)

    def gate_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape[1:], 2)

    def __str__(self) -> str:
        return f"{self.of} with {self.gate}"
