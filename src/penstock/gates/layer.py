"""The gates of one layer: one pattern an example, packed where gates are bits, by value where they are
numbers.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import torch
from jaxtyping import Bool, Float, Int64, Shaped
from torch import Tensor

from penstock.errors import PenstockError
from penstock.gates.kind import Kind
from penstock.gates.packed import count_bits, join_bits, pack, unpack

__all__ = ["BitLayer", "GateLayer", "ValueLayer"]


@dataclass(frozen=True, eq=False, repr=False)
class GateLayer(ABC):
    """One layer of a `GateRecord`: a `BitLayer` if its gates are hard, a `ValueLayer` if smooth."""

    name: str
    """The module's path, or `<path>.<function>` for a call without a module of its own."""
    kind: Kind
    """What the gates mean."""
    shape: tuple[int, ...]
    """The gates of one example."""
    tensors: tuple[Tensor, ...]
    """What is stored, with one row an example: planes of packed bits, or one tensor of values."""

    @staticmethod
    def of(name: str, kind: Kind, q: Float[Tensor, "n *shape"]) -> "GateLayer":
        """The gates of a batch of pre-activations, packed at once."""
        if kind.hard:
            return BitLayer(name, kind.detached(), kind.gate_shape(tuple(q.shape)), kind.pack(q))
        return GateLayer.from_pattern(name, kind, kind.read(q))

    @staticmethod
    def from_pattern(name: str, kind: Kind, pattern: Shaped[Tensor, "n *gates"]) -> "GateLayer":
        """The layer of a pattern as `kind.read` gives it."""
        shape = tuple(pattern.shape[1:])
        if kind.hard:
            planes = tuple(pack(plane.reshape(len(pattern), -1)) for plane in kind.planes(pattern))
            return BitLayer(name, kind.detached(), shape, planes)
        return ValueLayer(name, kind.detached(), shape, (pattern.detach(),))

    @staticmethod
    def concatenate(layers: Sequence["GateLayer"]) -> "GateLayer":
        """The examples of several records of one layer, one after another."""
        first = layers[0]
        for layer in layers[1:]:
            if (layer.kind, layer.shape) != (first.kind, first.shape):
                raise PenstockError(
                    f"the records cannot be joined: the layer {first.name} is {first.kind} with gates of "
                    f"{first.shape} in one and {layer.kind} with gates of {layer.shape} in another; capture "
                    "all from one model"
                )
        columns = zip(*(layer.tensors for layer in layers), strict=True)
        return replace(first, tensors=tuple(torch.cat(column) for column in columns))

    def __len__(self) -> int:
        """The number of examples."""
        return len(self.tensors[0])

    @property
    def gates(self) -> int:
        """The number of gates of one example."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The memory that the gates take."""
        return sum(tensor.nbytes for tensor in self.tensors)

    @property
    @abstractmethod
    def planes(self) -> tuple[Int64[Tensor, "n words"], ...]:
        """Hard gates as planes of bits, 64 a word (`penstock.gates.packed`). The first says which gates are
        open; `Clipped` has a second, which shut ones hold its high end. Smooth gates have none, and say so.
        """

    @property
    def words(self) -> Int64[Tensor, "n words"]:
        """The open gates, 64 a word."""
        return self.planes[0]

    @abstractmethod
    def pattern(self) -> Shaped[Tensor, "n *gates"]:
        """The gates unpacked, as `kind.apply` takes them."""

    @abstractmethod
    def to_dense(self) -> Shaped[Tensor, "n *gates"]:
        """The gates unpacked: bool where they are hard, their values where they are smooth."""

    def active(self, threshold: float | int) -> "GateLayer":
        """Bits: the gates whose value is above the threshold (D Section 3.1)."""
        kind = self.kind.above(threshold)
        if kind is self.kind:
            return self
        bits = self.kind.value(self.pattern()) > threshold
        return BitLayer(self.name, kind, self.shape, (pack(bits.reshape(len(self), -1)),))

    def apply(self, q: Float[Tensor, "n *shape"]) -> Float[Tensor, "n *out"]:
        """What the layer makes of q with these gates held, the first example's on the first row and so on."""
        return self.kind.apply(q, self.pattern())

    def select(self, rows: Int64[Tensor, " k"]) -> "GateLayer":
        """The gates of some of the examples, in the order of `rows`."""
        return replace(self, tensors=tuple(tensor[rows.to(tensor.device)] for tensor in self.tensors))

    def to(self, device: torch.device | str) -> "GateLayer":
        """The same gates on another device."""
        return replace(self, tensors=tuple(tensor.to(device) for tensor in self.tensors))

    @property
    def fraction_open(self) -> float:
        """The share of gates, over all examples, that are open."""
        return int(count_bits(self.words).sum()) / max(len(self) * self.gates, 1)

    @property
    def dead(self) -> Bool[Tensor, "*shape"]:
        """The units whose gate no example opens."""
        return ~self._units(join_bits(self.words, torch.bitwise_or))

    @property
    def always_open(self) -> Bool[Tensor, "*shape"]:
        """The units whose gate every example opens."""
        return self._units(join_bits(self.words, torch.bitwise_and))

    def hamming(self, other: "GateLayer") -> Int64[Tensor, " n"]:
        """In how many gates each example differs from the same example of another record of this layer."""
        if len(self.planes) != len(other.planes):
            raise PenstockError(
                f"the layer {self.name} is {self.kind} in one record and {other.kind} in the other, whose "
                "gates have different states; compare records of one kind"
            )
        differing = (a ^ b.to(a.device) for a, b in zip(self.planes, other.planes, strict=True))
        return count_bits(reduce(torch.bitwise_or, differing))

    def _units(self, words: Int64[Tensor, " words"]) -> Bool[Tensor, "*shape"]:
        return unpack(words.unsqueeze(0), self.gates).reshape(self.shape)

    def __eq__(self, other: object) -> bool:
        """Whether name, kind, shape and every gate are the same."""
        if not isinstance(other, GateLayer):
            return NotImplemented
        return (self.name, self.kind, self.shape) == (other.name, other.kind, other.shape) and all(
            mine.dtype == its.dtype and torch.equal(mine, its.to(mine.device))
            for mine, its in zip(self.tensors, other.tensors, strict=True)
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.kind}, {len(self)} examples of {self.shape})"


class BitLayer(GateLayer):
    """Hard gates, 64 to a word."""

    @property
    def planes(self) -> tuple[Int64[Tensor, "n words"], ...]:
        return self.tensors

    def pattern(self) -> Shaped[Tensor, "n *gates"]:
        return self.kind.join(tuple(self._unpacked(plane) for plane in self.planes))

    def to_dense(self) -> Bool[Tensor, "n *gates"]:
        return self._unpacked(self.words)

    def _unpacked(self, plane: Int64[Tensor, "n words"]) -> Bool[Tensor, "n *gates"]:
        return unpack(plane, self.gates).reshape(len(self), *self.shape)


class ValueLayer(GateLayer):
    """Smooth gates, by value."""

    @property
    def planes(self) -> tuple[Int64[Tensor, "n words"], ...]:
        raise PenstockError(
            f"the gates of the layer {self.name} ({self.kind}) are numbers, neither open nor shut; name a "
            "threshold first: record.active(0.5) is a record of bits"
        )

    @property
    def values(self) -> Float[Tensor, "n *gates"]:
        """The value of every gate, in the dtype of the model."""
        return self.tensors[0]

    def pattern(self) -> Float[Tensor, "n *gates"]:
        return self.values

    def to_dense(self) -> Float[Tensor, "n *gates"]:
        return self.values
