"""From a module's graph to the hops of its paths.

A *strand* reaches a node of a signal: the last node of a path on the way there, and the gates passed since.
An edge without a weight takes strands along; an edge with one ends them in hops to a new node, from which a
new strand begins.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int64
from torch import Tensor

from penstock.paths.alphabet import Alphabet
from penstock.paths.hops import Hops
from penstock.paths.layer import END, ONE, Layer
from penstock.paths.ranges import segments
from penstock.paths.sites import sites_of
from penstock.paths.strings import Strings
from penstock.walk.edges import Edges
from penstock.walk.graph import Graph
from penstock.walk.operation import meaning
from penstock.walk.site import Site

__all__ = ["trace"]


def trace(graph: Graph, output: int, held: dict[str, Tensor]) -> Hops:
    """The hops of all paths to one output; `held` is the graph's own at a batch of one."""
    tracer = Tracer(graph)
    for site in sites_of(graph, held):
        tracer.pass_step(site)
    return tracer.hops(graph.output, output)


class Strands(NamedTuple):
    """Columns ordered by node: `first[node]` is a node's first strand."""

    first: Int64[np.ndarray, " starts"]
    origin: Int64[np.ndarray, " strands"]
    string: Int64[np.ndarray, " strands"]


class Found(NamedTuple):
    """Hops, as columns."""

    origin: Int64[np.ndarray, " hops"]
    target: Int64[np.ndarray, " hops"]
    weight: Int64[np.ndarray, " hops"]
    string: Int64[np.ndarray, " hops"]


class Tracer:
    """Passes the steps in order and keeps the hops found so far, and the strands that reach each signal."""

    def __init__(self, graph: Graph):
        inputs = int(np.prod(graph.input_shape))
        self.layers = [Layer("x", graph.input_shape)]
        self.layer = [np.zeros(inputs + 1, dtype=np.int64)]
        self.unit = [np.append(np.arange(inputs), ONE)]
        self.one = inputs
        self.found: list[Found] = []
        self.alphabet, self.strings = Alphabet(), Strings()
        self.strands = {
            graph.input: Strands(np.arange(inputs + 1), np.arange(inputs), np.zeros(inputs, dtype=np.int64))
        }

    @property
    def nodes(self) -> int:
        return sum(map(len, self.unit))

    def pass_step(self, site: Site) -> None:
        """Take the strands of the signals that a step reads along its edges."""
        every: list[Edges] = list(meaning(site.step, "edges")(site))
        gate = self._first_gate(site, every)
        passing = [self._arrivals(edges, gate) for edges in every if not edges.makes_nodes]
        making = [self._arrivals(edges, gate) for edges in every if edges.makes_nodes]
        if making:
            passing.append(self._new_nodes(site, _joined(making)))
        came = _joined(passing)
        order = np.lexsort((came.origin, came.target))
        first = np.searchsorted(came.target[order], np.arange(site.outputs.numel() + 1))
        self.strands[site.step.name] = Strands(first, came.origin[order], came.string[order])

    def hops(self, signal: str, output: int) -> Hops:
        """All that was found, with the last hops: those of the strands that reach this output."""
        layer, unit = np.concatenate([*self.layer, [len(self.layers)]]), np.concatenate([*self.unit, [END]])
        end = len(unit) - 1
        strands = self.strands[signal]
        last = slice(strands.first[output], strands.first[output + 1])
        ends = np.full(last.stop - last.start, end)
        none = np.full_like(ends, -1)
        found = _joined([*self.found, Found(strands.origin[last], ends, none, strands.string[last])])
        count = _ways_to_end(found, layer, end)
        found = _ordered(Found(*(column[count[found.target] > 0] for column in found)), end)
        found = _joined([found, Found(*(np.array([value]) for value in (end, end, -1, 0)))])
        return Hops(tuple(self.layers), layer, unit, *found, count, self.one + 1, self.alphabet, self.strings)

    def _first_gate(self, site: Site, every: list[Edges]) -> int:
        gates = [
            int(edges.gate.max()) + 1 for edges in every if edges.gate is not None and edges.gate.numel()
        ]
        return self.strings.gates_of(site, max(gates)) if gates else 0

    def _arrivals(self, edges: Edges, first_gate: int) -> Found:
        """What comes along the edges; targets are numbers of the step's own outputs."""
        target, source, weight, gate = (None if part is None else part.numpy() for part in edges.rows())
        assert target is not None
        if edges.source is None or source is None:
            edge = np.arange(len(target))
            origin, string = np.full(len(target), self.one), np.zeros(len(target), dtype=np.int64)
        else:
            strands = self.strands[edges.source.signal]
            edge, strand = segments(strands.first[source], strands.first[source + 1])
            origin, string = strands.origin[strand], strands.string[strand]
        if gate is not None:
            string = self.strings.longer(string, first_gate + gate[edge])
        letter = np.full(len(edge), -1)
        if edges.weight is not None and weight is not None:
            letter = self.alphabet.number(edges.weight, weight)[edge]
        return Found(origin, target[edge], letter, string)

    def _new_nodes(self, site: Site, made: Found) -> Found:
        """Hops to a new node at every target, and the strand that begins there."""
        unit, which = np.unique(made.target, return_inverse=True)
        node = self.nodes + np.arange(len(unit))
        self.found.append(made._replace(target=node[which.reshape(-1)]))
        self.layer.append(np.full(len(unit), len(self.layers)))
        self.layers.append(Layer(self._called(site.step.place.name), site.step.shape))
        self.unit.append(unit)
        empty = np.zeros(len(unit), dtype=np.int64)
        return Found(node, unit, empty - 1, empty)

    def _called(self, name: str) -> str:
        """The name of a layer, with the number of the call from the second on, as gates have it."""
        before = sum(layer.name.partition(":")[0] == name for layer in self.layers)
        return f"{name}:{before + 1}" if before else name


def _joined(parts: list[Found]) -> Found:
    return Found(
        *(np.concatenate([np.zeros(0, dtype=np.int64), *columns]) for columns in zip(*parts, strict=True))
    )


def _ways_to_end(found: Found, layer: Int64[np.ndarray, " nodes"], end: int) -> Int64[np.ndarray, " nodes"]:
    """How many ways lead from each node to the end, from the last layer back to the first."""
    count = np.zeros(len(layer), dtype=np.int64)
    count[end] = 1
    reached = layer[found.target]
    order = np.argsort(-reached, kind="stable")
    for hops in np.split(order, np.flatnonzero(np.diff(reached[order])) + 1):
        np.add.at(count, found.origin[hops], count[found.target[hops]])
    return count


def _ordered(found: Found, end: int) -> Found:
    """By origin, then by target; the end comes before all that go on, and equal hops stay as they were."""
    order = np.lexsort((np.where(found.target == end, -1, found.target), found.origin))
    return Found(*(column[order] for column in found))
