"""Which examples are looked at inside a step, so that a step on which nothing flips costs little more than
one pass.

An example whose gates differ between the two ends always is. Of the others some are, spread evenly, as a
pilot; they show how far pre-activations bend away from straight lines in this step. Only an example that
has a unit nearer to zero than `margin` times that bend, at one of the ends, can have a gate that flips and
flips back, and it is looked at too.
"""

import math
from collections.abc import Iterator

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from penstock.gates.along.line import Line
from penstock.gates.along.overview import AT_ONCE, Overview
from penstock.gates.along.probe import Probe
from penstock.gates.along.samples import Samples
from penstock.gates.along.search import Flips, Searched, search_line

__all__ = ["find", "pilot"]

# The smallest pilot: so few examples are all looked at.
_FEW = 16


def find(
    probe: Probe, line: Line, before: Overview, after: Overview, *, inner: int, margin: float | int
) -> Flips:
    """Every flip of every example on the line. Only while `probe.asking`."""
    flipped = before.flipped(after)
    nearest = torch.minimum(before.nearest, after.nearest)
    looked_at = torch.zeros_like(flipped, dtype=torch.bool)
    wanted = (flipped > 0).index_fill(0, before.pilot, True)
    bend: Tensor | None = None
    found = [Flips.none(flipped.device)]
    while bool(wanted.any()):
        for examples in _chunks(wanted.nonzero().flatten(), flipped, probe.gates, inner):
            searched = search_line(Samples(probe, line, examples, before, after), inner + 2)
            found.append(searched.flips)
            bend = _larger(bend, searched)
        looked_at |= wanted
        wanted = _at_risk(nearest, bend, margin) & ~looked_at
    return Flips.concatenate(found)


def pilot(probe: Probe) -> Int64[Tensor, " p"]:
    """The examples of the pilot: about √n, or all of a few."""
    every = max(1, int(len(probe) / max(_FEW, math.sqrt(len(probe)))))
    return torch.arange(0, len(probe), every, device=probe.x.device)


def _larger(bend: Tensor | None, searched: Searched) -> Tensor | None:
    if bend is None or searched.bend is None:
        return searched.bend if bend is None else bend
    return torch.maximum(bend, searched.bend)


def _at_risk(
    nearest: Float[Tensor, "layers n"], bend: Tensor | None, margin: float | int
) -> Bool[Tensor, " n"]:
    # where something flipped for every example of the pilot, nobody knows how far the others bend
    if bend is None or margin == math.inf:
        return torch.ones_like(nearest[0], dtype=torch.bool)
    return (nearest < margin * bend[:, None]).any(0)


def _chunks(
    examples: Int64[Tensor, " k"], flipped: Int64[Tensor, " n"], gates: int, inner: int
) -> Iterator[Tensor]:
    """The examples in portions whose looks, a few for each flip, are held in memory together."""
    looks = (1 + flipped[examples]) * (inner + 2) * gates
    portion = (looks.cumsum(0) - looks) // AT_ONCE
    return (examples[portion == number] for number in portion.unique().tolist())
