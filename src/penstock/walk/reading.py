"""`read`: a user's module, turned into a graph."""

import threading

import torch
from torch import Tensor, nn

from penstock.errors import PenstockError
from penstock.model.calling import eager
from penstock.model.checks import check
from penstock.model.found import left_as_found
from penstock.model.inputs import Inputs, batches
from penstock.walk.agreement import agrees
from penstock.walk.announcement import announced
from penstock.walk.audit import refuse_unwalkable
from penstock.walk.cache import recall, remember
from penstock.walk.derivatives import same_derivatives
from penstock.walk.diagnosis import diagnose
from penstock.walk.export import exported
from penstock.walk.graph import Graph
from penstock.walk.pinned import LostBatch
from penstock.walk.precision import full_precision
from penstock.walk.quiet import without_warnings
from penstock.walk.refusal import in_one_sentence
from penstock.walk.rehearsal import rehearse
from penstock.walk.rows import three_rows
from penstock.walk.translation import translate

__all__ = ["read"]

# torch.export keeps state of its own while it runs
_one_at_a_time = threading.RLock()


def read(model: nn.Module, x: Inputs) -> Graph:
    """The graph of a module for inputs like `x`, of which only the first rows are looked at.

    Reading takes a fraction of a second, and more for deep networks, so the graph is kept for as long as
    the module lives and nobody changes it. At every call the graph is compared with the module, on three
    rows: one that the module has outgrown is read anew, and a module that no graph of independent rows
    can stand for is refused.
    """
    check(model)
    with torch.inference_mode(False), without_warnings(), eager():
        rows = three_rows(next(iter(batches(model, x, size=3))))
        with full_precision(rows.device):
            graph = recall(model, rows)
            if graph is not None and agrees(graph, model, rows):
                return graph
            with _one_at_a_time:
                graph = _read_anew(model, rows)
            remember(model, rows, graph)
            return graph


def _read_anew(model: nn.Module, rows: Tensor) -> Graph:
    try:
        rehearse(model, rows)
    except PenstockError:
        _refuse_if_rows_get_lost(model, rows)
        raise
    graph = _exported_graph(model, rows)
    if not agrees(graph, model, rows):
        raise diagnose(graph, model, rows)
    if not same_derivatives(graph, model, rows):
        raise PenstockError(
            f"the derivatives of {type(model).__name__} are not those of the operations it consists of; "
            "take out hooks that change gradients, and no_grad inside autocast"
        )
    return graph


def _refuse_if_rows_get_lost(model: nn.Module, rows: Tensor) -> None:
    """What goes wrong on three rows may be right on as many as the user has: the graph shows why."""
    try:
        _exported_graph(model, rows)
    except LostBatch:
        raise
    except PenstockError:
        return


def _exported_graph(model: nn.Module, rows: Tensor) -> Graph:
    line = f"reading {type(model).__name__} (torch.export; again only when the module changes) …"
    with left_as_found(model), announced(line):
        try:
            program = exported(model, rows)
        except Exception as error:
            raise in_one_sentence(model, rows, error) from (error.__cause__ or error)
        graph = translate(program, model, rows)
    refuse_unwalkable(graph, model)
    return graph
