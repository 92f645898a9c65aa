"""The graphs of modules that are alive, kept beside them, not in them: copies and pickles carry none."""

import weakref
from collections.abc import Hashable

from torch import Tensor, nn

from penstock.walk.fingerprint import mark_of_input, mark_of_model
from penstock.walk.graph import Graph

__all__ = ["recall", "remember"]

_KINDS_OF_INPUT = 4


class _Shelf:
    """One module's graphs, one for each kind of input, all read under one fingerprint."""

    def __init__(self) -> None:
        self.mark: Hashable = None
        self.graphs: dict[Hashable, Graph] = {}

    def turn_to(self, mark: Hashable) -> None:
        if self.mark != mark:
            self.mark = mark
            self.graphs.clear()


# by identity: a user's module may define what it means for two to be equal
_shelves: dict[int, _Shelf] = {}


def recall(model: nn.Module, x: Tensor) -> Graph | None:
    """The graph that was read from this module for inputs of this kind, unless it has changed since."""
    shelf = _shelves.get(id(model))
    if shelf is None:
        return None
    shelf.turn_to(mark_of_model(model))
    return shelf.graphs.get(mark_of_input(x))


def remember(model: nn.Module, x: Tensor, graph: Graph) -> None:
    """Keep a graph for as long as its module lives; of many kinds of input, for the last few."""
    if id(model) not in _shelves:
        _shelves[id(model)] = _Shelf()
        weakref.finalize(model, _shelves.pop, id(model), None).atexit = False
    shelf = _shelves[id(model)]
    shelf.turn_to(mark_of_model(model))
    shelf.graphs.pop(mark_of_input(x), None)
    shelf.graphs[mark_of_input(x)] = graph
    if len(shelf.graphs) > _KINDS_OF_INPUT:
        del shelf.graphs[next(iter(shelf.graphs))]
