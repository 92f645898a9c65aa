"""The steps that one network's paths pass, each with what stands around it."""

from collections.abc import Iterator, Mapping, Set

from torch import Tensor

from penstock.walk.graph import Graph
from penstock.walk.site import Site
from penstock.walk.step import Ref, Step

__all__ = ["sites_of"]


def sites_of(graph: Graph, held: Mapping[str, Tensor]) -> list[Site]:
    """The steps that the output comes from, in order; `held` is the graph's own at a batch of one."""
    steps = _needed(graph)
    shapes = {graph.input: (1, *graph.input_shape), **{step.name: step.shape_at(1) for step in steps}}
    learnt = _learnt(graph)
    names = _names(graph, steps, learnt)
    return [Site(step, shapes, held, names, learnt) for step in steps]


def _needed(graph: Graph) -> list[Step]:
    needed, steps = {graph.output}, []
    for step in reversed(graph.steps):
        if step.name in needed:
            needed.update(step.signals)
            steps.append(step)
    return steps[::-1]


def _learnt(graph: Graph) -> Set[str]:
    """The held values that a parameter reaches."""
    learnt = set(graph.parameters)
    for recipe in graph.recipes:
        if learnt.intersection(recipe.held):
            learnt.add(recipe.name)
    return learnt


def _names(graph: Graph, steps: list[Step], learnt: Set[str]) -> dict[str, str]:
    """Parameters have their own names; what is computed from them is called after its first use."""
    names = dict(graph.parameters)
    for step in steps:
        for argument, ref in _refs(step):
            if ref.name in learnt and ref.name not in names:
                name = f"{step.place.name}.{argument}".lstrip(".")
                names[ref.name] = name if name not in names.values() else f"{name} ({ref.name})"
    return names


def _refs(step: Step) -> Iterator[tuple[str, Ref]]:
    for argument, given in step.arguments.items():
        for part in given if isinstance(given, list | tuple) else (given,):
            if isinstance(part, Ref):
                yield argument, part
