"""Looks at some examples at some places of a line, each taken once and kept while it is needed."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from penstock.gates.along import crossing
from penstock.gates.along.line import Line
from penstock.gates.along.overview import Overview, open_gates
from penstock.gates.along.probe import Layer, Probe, Visitor
from penstock.gates.kind import Kind

__all__ = ["Point", "Samples"]

Point = tuple[int, int]
"""One of the examples, by its number among those that are looked at, and an index on the line."""


class Samples:
    """For every point that has been visited and kept: what each layer's crossing functions are made of
    (`values`), and its open gates (`words`). `before` and `after` are what is known already of the first
    and the last index.
    """

    def __init__(
        self, probe: Probe, line: Line, examples: Int64[Tensor, " k"], before: Overview, after: Overview
    ):
        self.probe, self.line, self.examples = probe, line, examples
        self.ends = {0: before, line.parts: after}
        self.numbers = examples.tolist()
        self.row: dict[Point, int] = {}
        self.values: list[Tensor] = []
        self.words: list[Tensor] = []

    def visit(self, points: Iterable[Point]) -> None:
        """Looks at those of these points that are not known."""
        new = sorted(set(points) - self.row.keys())
        if not new:
            return
        looks = _Looks(len(new), self.probe)
        for index, examples in self._by_index(new).items():
            end = self.ends.get(index)
            run, kept = self._divided(examples, end)
            if end is not None and kept:
                looks.copy(end.kept([self.numbers[example] for example in kept]))
            if run:
                self.probe.visit(self.line.at(index), self.examples[run], looks)
            for example in (*kept, *run):
                self.row[example, index] = len(self.row)
            if end is not None:
                # the ends' own gates stand: a unit within rounding of zero must not differ between two looks
                looks.correct([words[self.examples[[*kept, *run]]] for words in end.words])
        self.values = [
            _joined(pair)
            for pair in zip(self.values or [None] * len(looks.values), looks.values, strict=True)
        ]
        self.words = [
            _joined(pair) for pair in zip(self.words or [None] * len(looks.words), looks.words, strict=True)
        ]

    @staticmethod
    def _by_index(points: list[Point]) -> dict[int, list[int]]:
        by_index: dict[int, list[int]] = defaultdict(list)
        for example, index in points:
            by_index[index].append(example)
        return by_index

    def _divided(self, examples: list[int], end: Overview | None) -> tuple[list[int], list[int]]:
        """Which of the examples must be run, and which an overview has kept."""
        if end is None:
            return examples, []
        kept = [example for example in examples if self.numbers[example] in end.row]
        return [example for example in examples if self.numbers[example] not in end.row], kept

    def rows(self, points: Sequence[Sequence[Point]]) -> Int64[Tensor, "items nodes"]:
        """Where these points are in `values` and `words`."""
        numbers = np.array([[self.row[point] for point in one] for one in points], dtype=np.int64)
        return torch.from_numpy(numbers).to(self.examples.device)

    def functions(self, layer: Layer, rows: Int64[Tensor, "items nodes"]) -> Float[Tensor, "items nodes m"]:
        """A layer's crossing functions at the points of these rows."""
        return crossing.functions(layer.kind, layer.slots, self.values[layer.number][rows])

    def keep(self, points: Iterable[Point]) -> None:
        """Forgets all points but these."""
        kept = sorted(set(points) & self.row.keys())
        rows = self.rows([kept])[0] if kept else self.examples.new_zeros(0)
        self.row = {point: row for row, point in enumerate(kept)}
        self.values = [values[rows] for values in self.values]
        self.words = [words[rows] for words in self.words]


def _joined(pair: tuple[Tensor | None, Tensor]) -> Tensor:
    before, new = pair
    return new if before is None or not len(before) else torch.cat([before, new])


class _Looks(Visitor):
    """What several runs show, in the order of the runs."""

    def __init__(self, rows: int, probe: Probe):
        self.rows = rows
        self.values: list[Tensor] = [torch.empty(0)] * len(probe.layers)
        self.words: list[Tensor] = [torch.empty(0)] * len(probe.layers)
        self.filled = [0] * len(probe.layers)

    def see(self, layer: Layer, kind: Kind, q: Tensor, n: int) -> None:
        values = layer.rows.first(crossing.kept(kind, q), n).reshape(n, -1)
        self._fill(layer.number, values, open_gates(layer, kind, q, n))

    def copy(self, kept: Iterable[tuple[Tensor, Tensor]]) -> None:
        for number, (values, words) in enumerate(kept):
            self._fill(number, values, words)

    def _fill(self, number: int, values: Tensor, words: Tensor) -> None:
        first, last = self.filled[number], self.filled[number] + len(values)
        if not first:
            self.values[number] = values.new_empty(self.rows, values.shape[1])
            self.words[number] = words.new_empty(self.rows, words.shape[1])
        # copied at once: an activation in place writes over its input
        self.values[number][first:last], self.words[number][first:last] = values, words
        self.filled[number] = last

    def correct(self, words: list[Tensor]) -> None:
        """Puts other gates in the place of those that were looked at last."""
        for mine, right, last in zip(self.words, words, self.filled, strict=True):
            mine[last - len(right) : last] = right
