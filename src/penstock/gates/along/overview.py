"""All examples at one place of the line: which gates are open, and how near to flipping the nearest is."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from penstock.gates.along import crossing
from penstock.gates.along.line import Weights
from penstock.gates.along.probe import Layer, Probe, Visitor
from penstock.gates.kind import Kind
from penstock.gates.packed import count_bits, pack
from penstock.gates.rows import PLAIN

__all__ = ["AT_ONCE", "Overview", "look_over", "open_gates"]

AT_ONCE = 2**25
"""How many pre-activations, over all examples of one run, are held in memory at once."""


@dataclass(frozen=True)
class Overview:
    """One bit a gate, and one number for each layer and example; more of the examples of the pilot."""

    words: tuple[Int64[Tensor, "n _"], ...]
    """By layer, the open gates, 64 a word."""
    nearest: Float[Tensor, "layers n"]
    """The distance from zero of what is nearest to changing its sign."""
    pilot: Int64[Tensor, " p"]
    values: tuple[Float[Tensor, "p _"], ...]
    """By layer, what the crossing functions of the pilot are made of."""

    @cached_property
    def row(self) -> dict[int, int]:
        """Where in the pilot an example is."""
        return {example: row for row, example in enumerate(self.pilot.tolist())}

    def kept(self, examples: list[int]) -> Iterator[tuple[Tensor, Tensor]]:
        """Values and open gates, layer by layer, of some of the pilot's examples."""
        rows = [self.row[example] for example in examples]
        return (
            (values[rows], words[examples]) for values, words in zip(self.values, self.words, strict=True)
        )

    def flipped(self, other: "Overview") -> Int64[Tensor, " n"]:
        """How many gates of each example differ."""
        return torch.stack([count_bits(a ^ b) for a, b in zip(self.words, other.words, strict=True)]).sum(0)


def look_over(probe: Probe, weights: Weights, pilot: Int64[Tensor, " p"]) -> Overview:
    """Runs all examples, in batches, once. Only while `probe.asking`. The pilot's examples ascend."""
    size = max(1, AT_ONCE // probe.gates)
    parts = []
    for start in range(0, len(probe), size):
        parts.append(_Part(pilot[(pilot >= start) & (pilot < start + size)] - start))
        probe.visit(weights, slice(start, start + size), parts[-1])
    words, values = ([torch.cat(layer) for layer in zip(*each, strict=True)] for each in _columns(parts))
    nearest = torch.cat([torch.stack(part.nearest) for part in parts], dim=1)
    return Overview(tuple(words), nearest, pilot, tuple(values))


def _columns(parts: "list[_Part]") -> tuple[list[list[Tensor]], list[list[Tensor]]]:
    return [part.words for part in parts], [part.values for part in parts]


def open_gates(layer: Layer, kind: Kind, q: Tensor, n: int) -> Int64[Tensor, "n words"]:
    """Which gates of a layer are open, 64 a word."""
    if layer.rows == PLAIN:
        return kind.pack(q)[0]
    bits = kind.planes(kind.read(q))[0]
    return pack(layer.rows.first(bits, n).reshape(n, -1))


class _Part(Visitor):
    """One batch."""

    def __init__(self, pilot: Int64[Tensor, " p"]):
        self.pilot = pilot
        self.words: list[Tensor] = []
        self.nearest: list[Tensor] = []
        self.values: list[Tensor] = []

    def see(self, layer: Layer, kind: Kind, q: Tensor, n: int) -> None:
        values = layer.rows.first(crossing.kept(kind, q), n).reshape(n, -1)
        self.words.append(open_gates(layer, kind, q, n))
        self.nearest.append(crossing.distance(kind, layer.slots, values))
        self.values.append(values[self.pilot])
