"""What every kind of gate can do, whatever function of torch it belongs to.

A kind reads the *pattern* of its gates from a batch of pre-activations, and applies a pattern to any other
batch: the output with those gates held, which is affine in q. For the pattern just read it is the function's
own output.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int64, Shaped
from torch import Tensor

from penstock.errors import PenstockError
from penstock.gates.packed import pack

__all__ = ["Above", "Kind"]


class Kind(ABC):
    """What one ReLU-like function means as gates. Batches are n × anything; a gate's shape leaves n out."""

    hard: ClassVar[bool] = True
    """Whether a gate is a bit. If not, it is a number."""

    @property
    def shut(self) -> float:
        """The largest factor that a shut gate multiplies by; an open one multiplies by 1."""
        return 0.0

    @abstractmethod
    def read(self, q: Float[Tensor, "n *shape"]) -> Shaped[Tensor, "n *gates"]:
        """The pattern of the gates: bool where they are hard (`Clipped` has three states), else numbers."""

    @abstractmethod
    def apply(
        self, q: Float[Tensor, "n *shape"], pattern: Shaped[Tensor, "n *gates"]
    ) -> Float[Tensor, "n *out"]:
        """The function's output with its gates held at `pattern`: affine in q."""

    @abstractmethod
    def value(self, pattern: Shaped[Tensor, "n *gates"]) -> Float[Tensor, "n *gates"]:
        """The factor that each gate multiplies by."""

    def steepness(self, q: Float[Tensor, "n *shape"]) -> Float[Tensor, "n *gates"]:
        """∂value/∂q of each gate. A hard gate has none: 0 wherever it is defined."""
        return torch.zeros(len(q), *self.gate_shape(tuple(q.shape)), dtype=q.dtype, device=q.device)

    def above(self, threshold: float | int) -> "Kind":
        """The kind whose open gates are those of a value above the threshold; this one, if it is."""
        return self if self.hard and self.shut <= threshold < 1 else Above(self, threshold)

    def gate_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The gates of one example, for a batch of pre-activations of this shape."""
        return tuple(shape[1:])

    def detached(self) -> "Kind":
        """This kind as a record keeps it: whatever the model goes on learning, this stays."""
        return self

    def planes(self, pattern: Shaped[Tensor, "n *gates"]) -> tuple[Bool[Tensor, "n *gates"], ...]:
        """A hard pattern as planes of bits; the first says which gates are open."""
        return (pattern,)

    def join(self, planes: tuple[Bool[Tensor, "n *gates"], ...]) -> Shaped[Tensor, "n *gates"]:
        """The pattern that these planes of bits are."""
        return planes[0]

    def pack(self, q: Float[Tensor, "n *shape"]) -> tuple[Int64[Tensor, "n words"], ...]:
        """The planes of the pattern of q, 64 gates a word."""
        return tuple(pack(plane.reshape(len(q), -1)) for plane in self.planes(self.read(q)))


@dataclass(frozen=True)
class Above(Kind):
    """Bits made from another kind: open where its value is above a threshold (D Section 3.1, active gates).

    An open gate passes q, a shut one nothing.
    """

    kind: Kind
    threshold: float | int

    def __post_init__(self):
        if not (self.threshold >= 0 and math.isfinite(self.threshold)):
            raise PenstockError(
                f"the threshold of active gates must be finite and at least 0, not {self.threshold}"
            )

    def read(self, q: Float[Tensor, "n *shape"]) -> Bool[Tensor, "n *gates"]:
        return self.kind.value(self.kind.read(q)) > self.threshold

    def apply(
        self, q: Float[Tensor, "n *shape"], pattern: Bool[Tensor, "n *shape"]
    ) -> Float[Tensor, "n *shape"]:
        return torch.where(pattern, q, torch.zeros_like(q))

    def value(self, pattern: Shaped[Tensor, "n *gates"]) -> Float[Tensor, "n *gates"]:
        return pattern.to(torch.get_default_dtype())

    def gate_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self.kind.gate_shape(shape)

    def detached(self) -> "Kind":
        return Above(self.kind.detached(), self.threshold)

    def __str__(self) -> str:
        return f"{self.kind} above {self.threshold:g}"
