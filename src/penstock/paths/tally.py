"""How many paths lead to an output, by one pass and without listing any.

As many paths reach a node as reach the beginnings of its edges together; an edge that starts a path brings
one. The numbers are exact at any size: they are carried as digits to the base 2^31 in 64-bit integers, so
that a step can add up four billion of them before it has to carry.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Int64
from torch import Tensor

from penstock.paths.sites import sites_of
from penstock.walk.edges import Edges
from penstock.walk.graph import Graph
from penstock.walk.operation import has_meaning, meaning

__all__ = ["Tally", "tally_of"]

_BITS = 31


class Tally(NamedTuple):
    """How many paths lead to an output, and the most nodes that one of them can have."""

    paths: int
    longest: int


def tally_of(graph: Graph, output: int) -> Tally:
    """Of the paths to one output of a graph."""
    counts = {graph.input: torch.ones(1, 1, *graph.input_shape, dtype=torch.int64)}
    longest = {graph.input: 1}
    places = sites_of(graph, graph.held())
    last_use = {name: site.step.name for site in places for name in site.step.signals}
    for site in places:
        name, read = site.step.name, alike({signal: counts[signal] for signal in site.step.signals})
        one = next(iter(read.values())).new_zeros(len(next(iter(read.values()))))
        one[0] = 1
        if has_meaning(site.step, "count"):
            reached = meaning(site.step, "count")(site, read, one)
            longest[name] = max(longest[signal] for signal in read) + 1
        else:
            edges = list(meaning(site.step, "edges")(site))
            reached = by_edges(edges, site.outputs.numel(), read, one)
            longest[name] = max((_longest(part, longest) for part in edges), default=0)
        counts[name] = carried(reached).unflatten(1, site.shape)
        for signal in read:
            if last_use[signal] == name:
                del counts[signal]
    digits = counts[graph.output].flatten(1)[:, output].tolist()
    return Tally(sum(digit << (_BITS * place) for place, digit in enumerate(digits)), longest[graph.output])


def by_edges(
    every: Sequence[Edges], nodes: int, counts: Mapping[str, Tensor], one: Int64[Tensor, " digits"]
) -> Int64[Tensor, "digits nodes"]:
    """How many paths reach each node of a step's output, added up edge by edge."""
    total = one.new_zeros(len(one), nodes)
    for edges in every:
        target, source, _, _ = edges.rows()
        if edges.source is None or source is None:
            came = one[:, None].expand(-1, len(target))
        else:
            came = counts[edges.source.signal].flatten(1)[:, source]
        total.index_add_(1, target, came)
    return total


def alike(counts: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The same counts, all with as many digits as the longest."""
    digits = max(len(count) for count in counts.values())
    return {name: _padded(count, digits) for name, count in counts.items()}


def carried(count: Int64[Tensor, "digits nodes"]) -> Int64[Tensor, "more nodes"]:
    """The same numbers with every digit below the base."""
    total = count
    while (carry := total >> _BITS).any():
        digits = len(total) + bool(carry[-1].any())
        total = _padded(total & ((1 << _BITS) - 1), digits)
        total[1:] += carry[: digits - 1]
    return total


def _padded(count: Tensor, digits: int) -> Tensor:
    return torch.cat([count, count.new_zeros(digits - len(count), *count.shape[1:])])


def _longest(edges: Edges, longest: Mapping[str, int]) -> int:
    """The most nodes of a path that came along these edges; one that starts here has the 1 as its first."""
    before = 1 if edges.source is None else longest[edges.source.signal]
    return before + edges.makes_nodes
