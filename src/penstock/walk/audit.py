"""What no walk could follow in a graph: randomness, numbers taken out of tensors, rows that get lost."""

from collections.abc import Iterator

import torch
from torch import nn

from penstock.errors import PenstockError
from penstock.walk.graph import Graph
from penstock.walk.pinned import LostBatch
from penstock.walk.place import subject
from penstock.walk.step import Extent, Step, leaves, references

__all__ = ["refuse_unwalkable"]

_RECURRENT = {
    "gru",
    "lstm",
    "rnn_tanh",
    "rnn_relu",
    "gru_cell",
    "lstm_cell",
    "rnn_tanh_cell",
    "rnn_relu_cell",
}


def refuse_unwalkable(graph: Graph, model: nn.Module) -> None:
    """Refuse such a graph, by the first step that is to blame."""
    for step in (*graph.recipes, *graph.steps):
        for complaint in _complaints(step):
            raise PenstockError(f"{subject(model, step.place)} {complaint}")
        if any(isinstance(leaf, Extent) and leaf.is_unknown for leaf in leaves((step.sizes, step.args))):
            raise LostBatch(
                f"{subject(model, step.place)} makes a tensor or a number whose size or value depends on "
                "the values of another tensor (a boolean index, nonzero, .item()), which no graph can "
                "hold; use torch.where or multiply by a mask, and keep numbers tensors"
            )
    _audit_output(graph, model)


def _complaints(step: Step) -> Iterator[str]:
    if _draws(step):
        yield (
            f"draws random numbers ({step.operation}), so the network has no one graph; call model.eval() "
            "if it is dropout, or take the randomness out of forward"
        )
    if step.operation in _RECURRENT:
        yield (
            f"is a fused recurrent layer ({step.operation}), whose gates and weights lie inside one "
            "operation; write the recurrence as a loop over nn.Linear"
        )
    numbers = [ref for ref in references((step.args, step.kwargs)) if ref.number]
    if any(ref.name in step.signals for ref in numbers):
        yield (
            "takes a Python number out of a tensor that depends on the input (.item(), float() or tolist()), "
            "which no graph can follow; keep it a tensor"
        )


def _draws(step: Step) -> bool:
    if torch.Tag.nondeterministic_seeded not in step.target.tags:
        return False
    given = step.arguments
    at_rest = given.get("train") is False or given.get("training") is False or given.get("dropout_p") == 0
    return not at_rest


def _audit_output(graph: Graph, model: nn.Module) -> None:
    kind = type(model).__name__
    if graph.output == graph.input:
        return
    if graph.output not in graph.step:
        raise PenstockError(
            f"the output of {kind} does not depend on its input; use in forward what it is given"
        )
    output = graph.step[graph.output]
    if not output.batch_first:
        culprit = next((step for step in graph.steps if not step.batch_first), output)
        shape = ", ".join(str(size) for size in culprit.sizes)
        raise LostBatch(
            f"{subject(model, culprit.place)} makes a tensor of shape ({shape}), and {kind} ends without "
            "one row an example; begin every shape with x.shape[0], never with a fixed number, and return "
            "examples × outputs"
        )
