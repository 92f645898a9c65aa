"""How an operation continues paths, as edges between the nodes that it reads and the nodes that it makes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Int64
from torch import Tensor

from penstock.walk.site import TWO_SIGNALS, Nodes, Site, Weight

__all__ = ["Edges", "Rows", "product", "terms"]


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges into the output of one step. All numbers broadcast against each other; every entry is one edge.

    Along an edge a signal is multiplied by the weight, where there is one, and by the gate, where there is
    one: with all its edges, `output[target] = Σ weight · gate · input[source]`.
    """

    target: Int64[Tensor, "*#shape"]
    """Nodes of the output."""
    source: Nodes | None
    """Where the edge comes from; None where it starts a path, from an input that is 1 (a bias)."""
    weight: Weight | None = None
    gate: Int64[Tensor, "*#shape"] | None = None
    """Numbers of the step's gates, as the operation's `gates` lists them."""
    stops: bool = False
    """Whether paths have a node here even without a weight, as in pooling. At a weight and at a start they
    always have.
    """

    def times(self, factor: float) -> "Edges":
        """The same edges, each times a constant."""
        weight = Weight.constant(factor) if self.weight is None else self.weight.times(factor)
        return self if factor == 1 else replace(self, weight=weight)

    def rows(self) -> "Rows":
        """One row an edge."""
        given = [
            self.target,
            self.source and self.source.number,
            self.weight and self.weight.number,
            self.gate,
        ]
        spread = iter(torch.broadcast_tensors(*(part for part in given if part is not None)))
        return Rows(*(None if part is None else next(spread).flatten() for part in given))  # pyright: ignore[reportArgumentType]

    @property
    def makes_nodes(self) -> bool:
        return self.stops or self.weight is not None or self.source is None


class Rows(NamedTuple):
    """Edges as columns, of the same length where they are there."""

    target: Int64[Tensor, " edges"]
    source: Int64[Tensor, " edges"] | None
    weight: Int64[Tensor, " edges"] | None
    gate: Int64[Tensor, " edges"] | None


def product(site: Site, target: Tensor, left: Nodes | Weight, right: Nodes | Weight) -> Edges:
    """The edges of `target = Σ left · right`, where one of the two is a signal and the other is held."""
    if isinstance(left, Weight):
        left, right = right, left
    if isinstance(left, Weight) or isinstance(right, Nodes):
        raise site.refusal(TWO_SIGNALS)
    return Edges(target, left, right)


def terms(site: Site, argument: str, factor: float = 1.0) -> Iterator[Edges]:
    """The edges of a term of a sum: a signal's, or paths that start at something held.

    The constant 0 starts none.
    """
    operand = site.operand(argument)
    if isinstance(operand, Nodes):
        yield Edges(site.outputs, operand).times(factor)
    elif not operand.fixed or operand.values.any():
        yield Edges(site.outputs, None, operand.times(factor))
