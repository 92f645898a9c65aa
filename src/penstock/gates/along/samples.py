"""Looks at some examples at some places of a line, each taken once and kept while it is needed."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from penstock.gates.along import crossing
from penstock.gates.along.line import Line
from penstock.gates.along.probe import Layer, Probe, Visitor
from penstock.gates.kind import Kind
from penstock.gates.packed import pack

__all__ = ["Point", "Samples", "open_gates"]

Point = tuple[int, int]
"""One of the examples, by its number among those that are looked at, and an index on the line."""


def open_gates(layer: Layer, kind: Kind, q: Tensor, n: int) -> Int64[Tensor, "n words"]:
    """Which gates of a layer are open, 64 a word."""
    bits = kind.planes(kind.read(q))[0]
    return pack(layer.rows.first(bits, n).reshape(n, -1))


class Samples:
    """For every point that has been visited and kept: what each layer's crossing functions are made of (`values`), and
    its open gates (`words`). `ends` are the open gates at the first and the last index, which are known already.
    """

    def __init__(
        self, probe: Probe, line: Line, examples: Int64[Tensor, " k"], ends: tuple[Sequence[Tensor], Sequence[Tensor]]
    ):
        self.probe, self.line, self.examples = probe, line, examples
        self.ends = {0: ends[0], line.parts: ends[1]}
        self.row: dict[Point, int] = {}
        self.kinds: dict[int, Kind] = {}
        self.slots: dict[int, int] = {}
        self.values: list[Tensor] = []
        self.words: list[Tensor] = []

    def visit(self, points: Iterable[Point]) -> None:
        """Looks at those of these points that are not known."""
        by_index: dict[int, list[int]] = defaultdict(list)
        for example, index in sorted(set(points) - self.row.keys()):
            by_index[index].append(example)
        looks = [self._look(index, examples) for index, examples in by_index.items()]
        if looks:
            self._append([look.values for look in looks], [look.words for look in looks])

    def _look(self, index: int, examples: list[int]) -> "_Look":
        which = self.examples[examples]
        look = _Look()
        self.probe.visit(self.line.at(index), which, look)
        if index in self.ends:
            # the ends' own gates stand: a unit within rounding of zero must not differ between two looks
            look.words = [words[which] for words in self.ends[index]]
        self.kinds, self.slots = look.kinds, look.slots
        for example in examples:
            self.row[example, index] = len(self.row)
        return look

    def _append(self, values: list[list[Tensor]], words: list[list[Tensor]]) -> None:
        before = [[tensor] for tensor in self.values] or [[] for _ in values[0]]
        self.values = [torch.cat([*old, *new]) for old, new in zip(before, zip(*values, strict=True), strict=True)]
        before = [[tensor] for tensor in self.words] or [[] for _ in words[0]]
        self.words = [torch.cat([*old, *new]) for old, new in zip(before, zip(*words, strict=True), strict=True)]

    def rows(self, points: Sequence[Sequence[Point]]) -> Int64[Tensor, "items nodes"]:
        """Where these points are in `values` and `words`."""
        numbers = np.array([[self.row[point] for point in one] for one in points], dtype=np.int64)
        return torch.from_numpy(numbers).to(self.examples.device)

    def functions(self, layer: Layer, rows: Int64[Tensor, "items nodes"]) -> Float[Tensor, "items nodes m"]:
        """A layer's crossing functions at the points of these rows."""
        values = self.values[layer.number][rows]
        return crossing.functions(self.kinds[layer.number], self.slots[layer.number], values)

    def keep(self, points: Iterable[Point]) -> None:
        """Forgets all other points."""
        kept = sorted(set(points))
        rows = self.rows([kept])[0] if kept else self.examples.new_zeros(0)
        self.row = {point: row for row, point in enumerate(kept)}
        self.values = [values[rows] for values in self.values]
        self.words = [words[rows] for words in self.words]


class _Look(Visitor):
    """What one run shows."""

    def __init__(self):
        self.kinds: dict[int, Kind] = {}
        self.slots: dict[int, int] = {}
        self.values: list[Tensor] = []
        self.words: list[Tensor] = []

    def see(self, layer: Layer, kind: Kind, q: Tensor, n: int) -> None:
        values = layer.rows.first(crossing.kept(kind, q), n)
        self.kinds[layer.number], self.slots[layer.number] = kind, values.shape[-1]
        # a copy: an activation in place writes over its input
        self.values.append(values.reshape(n, -1).clone())
        self.words.append(open_gates(layer, kind, q, n))
