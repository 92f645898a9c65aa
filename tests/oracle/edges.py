"""What a network's edges say that it computes, edge by edge in Python loops.

    output[target] = Σ weight · gate · input[source]

over the edges of every step (an edge without a source starts from 1); and how many paths lead to each
output, as a sum of Python's own integers over the same edges.
"""

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from penstock.paths.sites import sites_of
from penstock.paths.tally import tally_of
from penstock.walk.graph import Graph
from penstock.walk.operation import meaning
from penstock.walk.reading import read
from penstock.walk.site import Site


class Edge(NamedTuple):
    target: int
    signal: str | None
    source: int
    weight: float
    gate: int | None


def edges_of(site: Site) -> Iterator[Edge]:
    """One at a time, with the weight's value (1 where there is none)."""
    for every in meaning(site.step, "edges")(site):
        target, source, weight, gate = every.rows()
        values = every.weight.values.detach().flatten().tolist() if every.weight else []
        for k in range(len(target)):
            yield Edge(
                int(target[k]),
                every.source.signal if every.source else None,
                int(source[k]) if source is not None else -1,
                values[int(weight[k])] if weight is not None else 1.0,
                int(gate[k]) if gate is not None else None,
            )


def graph_and_sites(model: nn.Module, x: Tensor) -> tuple[Graph, list[Site]]:
    graph = read(model, x)
    return graph, sites_of(graph, graph.held())


def outputs_by_edges(graph: Graph, places: list[Site], x: Tensor) -> Tensor:
    """What the module computes, examples × outputs, one example after the other."""
    steps = [(site, list(edges_of(site))) for site in places]
    rows = []
    for example in x.split(1):
        signals = {graph.input: example.flatten().tolist()}
        for site, edges in steps:
            gates: list[float] = []
            if any(edge.gate is not None for edge in edges):
                read_by = site.step.signals[0]
                q = torch.tensor(signals[read_by], dtype=x.dtype).reshape(site.shapes[read_by])
                gates = meaning(site.step, "gates")(site, q, 1)[0].tolist()
            total = [0.0] * site.outputs.numel()
            for edge in edges:
                came = 1.0 if edge.signal is None else signals[edge.signal][edge.source]
                total[edge.target] += edge.weight * came * (1.0 if edge.gate is None else gates[edge.gate])
            signals[site.step.name] = total
        rows.append(signals[graph.output])
    return torch.tensor(rows, dtype=x.dtype)


def counts_by_edges(graph: Graph, places: list[Site]) -> list[int]:
    """How many paths lead to each output."""
    counts = {graph.input: [1] * prod(graph.input_shape)}
    for site in places:
        total = [0] * site.outputs.numel()
        for edge in edges_of(site):
            total[edge.target] += 1 if edge.signal is None else counts[edge.signal][edge.source]
        counts[site.step.name] = total
    return counts[graph.output]


def assert_edges_are_the_module(model: nn.Module, x: Tensor) -> None:
    """The edges compute what the module computes, and as many paths are counted as they make."""
    graph, places = graph_and_sites(model, x)
    with torch.no_grad():
        torch.testing.assert_close(outputs_by_edges(graph, places, x), model(x), rtol=1e-10, atol=1e-12)
    counts = counts_by_edges(graph, places)
    for output in {0, len(counts) // 2, len(counts) - 1}:
        assert tally_of(graph, output).paths == counts[output]
