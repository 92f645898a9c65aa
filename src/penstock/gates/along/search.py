"""Every flip on a line of weights, from few looks at it.

A stretch of the line is looked at in as many places as determine a polynomial. Take the first layer (in the
order of the calls) in which any gate of the example flips on the stretch. All gates before it are held
there, so that its functions are polynomials, known in all the stretch; they tell at which places to cut it.
Around each cut two neighboring places are looked at, and the pieces between are searched again, until
nothing flips on them. Comparing the two ends alone would miss a gate that flips and flips back.

So what is found is what looking at all places would find, if the degree of the polynomials is below the
number of places looked at.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from penstock.gates.along import polynomial
from penstock.gates.along.samples import Point, Samples
from penstock.gates.packed import unpack

__all__ = ["Flips", "Searched", "search_line"]


@dataclass(frozen=True)
class Flips:
    """Flips, one a row: between `index` and the next, a gate of a layer opened or closed for an example."""

    example: Int64[Tensor, " k"]
    index: Int64[Tensor, " k"]
    layer: Int64[Tensor, " k"]
    gate: Int64[Tensor, " k"]
    opened: Bool[Tensor, " k"]

    def __len__(self) -> int:
        return len(self.example)

    @staticmethod
    def none(device: torch.device) -> "Flips":
        empty = torch.zeros(0, dtype=torch.int64, device=device)
        return Flips(empty, empty, empty, empty, empty.bool())

    @staticmethod
    def concatenate(parts: Sequence["Flips"]) -> "Flips":
        return Flips(
            *(torch.cat([getattr(part, name) for part in parts]) for name in Flips.__dataclass_fields__)
        )


@dataclass(frozen=True)
class Searched:
    """What a search found, and how far functions bent away from a straight line where nothing flipped, at
    most, by layer; None where something flipped for every example."""

    flips: Flips
    bend: Float[Tensor, " layers"] | None


@dataclass(frozen=True)
class _Stretch:
    """The line from one index to another, for one example."""

    example: int
    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start

    @property
    def ends(self) -> tuple[Point, Point]:
        return (self.example, self.start), (self.example, self.end)

    def points(self, count: int) -> list[Point]:
        """Where it is looked at: at `count` places, or at every one of a short stretch."""
        return [(self.example, self.start + place) for place in polynomial.nodes(self.length, count)]

    def cut(self, places: Iterable[int]) -> list["_Stretch"]:
        inner = sorted({self.start + place for place in places} - {self.start, self.end})
        edges = [self.start, *inner, self.end]
        return [_Stretch(self.example, a, b) for a, b in pairwise(edges)]


def search_line(samples: Samples, count: int) -> Searched:
    """Finds every flip of the examples of `samples`, with `count` looks at every stretch."""
    stretches = [_Stretch(example, 0, samples.line.parts) for example in range(len(samples.examples))]
    flips = [Flips.none(samples.examples.device)]
    bend: Tensor | None = None
    while stretches:
        samples.visit(point for stretch in stretches for point in stretch.points(count))
        exhausted = [stretch for stretch in stretches if len(stretch.points(count)) > stretch.length]
        flips.append(_read_off(samples, [stretch.points(count) for stretch in exhausted]))
        known = [stretch for stretch in stretches if len(stretch.points(count)) <= stretch.length]
        stretches, straight = _cut(samples, known, count)
        if straight and straight[0].length == samples.line.parts:
            bend = _bend(samples, straight, count)
        samples.keep(end for piece in stretches for end in piece.ends)
    return Searched(Flips.concatenate(flips), bend)


def _read_off(samples: Samples, paths: list[list[Point]]) -> Flips:
    """The flips between neighboring points that have all been looked at."""
    pairs = [[a, b] for path in paths for a, b in pairwise(path)]
    if not pairs:
        return Flips.none(samples.examples.device)
    rows = samples.rows(pairs)
    found = [Flips.none(samples.examples.device)]
    places = torch.tensor([pair[0] for pair in pairs], device=rows.device)
    for layer in samples.probe.layers:
        before, after = (samples.words[layer.number][rows[:, end]] for end in (0, 1))
        changed = (before != after).any(1).nonzero().flatten()
        if not len(changed):
            continue
        flipped = unpack(before[changed] ^ after[changed], layer.gates)
        which, gate = flipped.nonzero(as_tuple=True)
        opened = unpack(after[changed], layer.gates)[which, gate]
        example, index = places[changed[which]].unbind(1)
        number = torch.full_like(gate, layer.number)
        found.append(Flips(samples.examples[example], index, number, gate, opened))
    return Flips.concatenate(found)


def _cut(samples: Samples, stretches: list[_Stretch], count: int) -> tuple[list[_Stretch], list[_Stretch]]:
    """The pieces of those stretches on which something flips, and the stretches on which nothing does."""
    if not stretches:
        return [], []
    rows = samples.rows([stretch.points(count) for stretch in stretches])
    cuts = _predicted(samples, stretches, rows)
    pieces, straight = [], []
    differing = _differing(samples, rows)
    for stretch, places, differs in zip(stretches, cuts, differing, strict=True):
        if places:
            pieces += stretch.cut(places)
        elif differs:
            # no polynomial explains it: its degree is higher, or a unit is within rounding of zero
            pieces += stretch.cut(polynomial.nodes(stretch.length, count))
        else:
            straight.append(stretch)
    return pieces, straight


def _predicted(
    samples: Samples, stretches: list[_Stretch], rows: Int64[Tensor, "items nodes"]
) -> list[set[int]]:
    """For each stretch, the places on both sides of every flip in the first layer that has one."""
    count = rows.shape[1]
    lengths = [stretch.length for stretch in stretches]
    margins = torch.tensor([polynomial.margin(length, count) for length in lengths], device=rows.device)
    cuts: list[set[int]] = [set() for _ in stretches]
    for layer in samples.probe.layers:
        undecided = [item for item, places in enumerate(cuts) if not places]
        if not undecided:
            break
        where = torch.tensor(undecided, device=rows.device)
        functions = samples.functions(layer, rows[where])
        doubtful = polynomial.doubtful(functions, margins[where].to(functions))
        for at in doubtful.any(1).nonzero().flatten().tolist():
            item = undecided[at]
            for place in polynomial.changes(functions[at][:, doubtful[at]], lengths[item]).tolist():
                cuts[item] |= {place, place + 1}
    return cuts


def _differing(samples: Samples, rows: Int64[Tensor, "items nodes"]) -> list[bool]:
    """Whether the gates of an item are not the same at all its nodes."""
    differing = torch.zeros(len(rows), dtype=torch.bool, device=rows.device)
    for words in samples.words:
        seen = words[rows]
        differing |= (seen[:, 1:] != seen[:, :1]).flatten(1).any(1)
    return differing.tolist()


def _bend(samples: Samples, stretches: list[_Stretch], count: int) -> Float[Tensor, " layers"]:
    """How far, at most, the functions of each layer are from straight lines between their ends."""
    rows = samples.rows([stretch.points(count) for stretch in stretches])
    length = stretches[0].length
    bends = []
    for layer in samples.probe.layers:
        start, *inner, end = samples.functions(layer, rows).unbind(1)
        places = polynomial.nodes(length, count)[1:-1]
        away = [
            (look - torch.lerp(start, end, place / length)).abs().max()
            for look, place in zip(inner, places, strict=True)
        ]
        bends.append(torch.stack(away).max() if away else (end - start).abs().max())
    return torch.stack(bends)
