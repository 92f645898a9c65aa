"""Why a graph and its module do not agree, in one sentence."""

import torch
from torch import Tensor, nn

from penstock.errors import PenstockError
from penstock.model.found import left_as_found
from penstock.walk.agreement import close, tolerance
from penstock.walk.graph import Graph
from penstock.walk.place import subject
from penstock.walk.rows import in_other_company, taken_back

__all__ = ["diagnose"]


def diagnose(graph: Graph, model: nn.Module, rows: Tensor) -> PenstockError:
    """What the module does that a graph of rows cannot: it varies, mixes rows, or leaves torch."""
    kind = type(model).__name__
    with left_as_found(model), torch.no_grad():
        first, again = model(rows.clone()), model(rows.clone())
        if not close(first, again, tolerance(graph)):
            return PenstockError(
                f"{kind} gives two different outputs for the same input; take what is random in its "
                "forward, or kept from call to call, out of it"
            )
        if not close(first, taken_back(model(in_other_company(rows))), tolerance(graph)):
            return PenstockError(_mixing(graph, model, rows))
    return PenstockError(
        f"the graph that torch.export makes of {kind} does not give what {kind} gives; write in torch "
        "operations what its forward does outside of torch (NumPy, numbers taken from tensors, changes of "
        "its own attributes)"
    )


def _mixing(graph: Graph, model: nn.Module, rows: Tensor) -> str:
    values, others = graph.run(rows), graph.run(in_other_company(rows))
    who, way_out = type(model).__name__, "compute over features or positions, never over the first dimension"
    for step in graph.steps:
        if step.batch_first and not close(values[step.name], taken_back(others[step.name]), tolerance(graph)):
            who = subject(model, step.place)
            if "batch_norm" in step.operation:
                way_out = "give it running statistics and evaluation mode"
            break
    return (
        f"{who} mixes examples: what it gives for one row depends on the other rows of the batch; {way_out}"
    )
