"""What torch.export says at length, in one sentence that names the layer, where it sits, and the way out."""

import torch
from torch import Tensor, nn
from torch.fx.experimental.symbolic_shapes import ConstraintViolationError, GuardOnDataDependentSymNode

from penstock.errors import PenstockError
from penstock.model.parts import describe, layers
from penstock.walk.export import ForwardFailed
from penstock.walk.pinned import LostBatch, where_pinned
from penstock.walk.place import place_raised, subject

__all__ = ["in_one_sentence", "what_it_says"]

# Words of torch's own message, and what they mean to whoever wrote the network. The first that fit are taken.
_MEANINGS = (
    (
        ("fake tensor in the exported program",),
        "reads the .data of a parameter, or makes a tensor where torch.export cannot see it; use .detach() "
        "and torch operations",
    ),
    (
        ("numpy() is not supported", "data pointer"),
        "leaves torch (numpy, data_ptr or a compiled extension of its own), so no graph can hold it; write "
        "it in torch operations",
    ),
    (
        ("no fake impl",),
        "calls an operator of your own without a meta implementation; give it one with register_fake",
    ),
    (
        ("functorch", "functional transform"),
        "takes derivatives inside forward (torch.func), which no graph can hold; write the derivative out",
    ),
    (
        ("sparse", "Sparse"),
        "computes with sparse tensors, which torch.export cannot record; call to_dense() on them first",
    ),
)


def in_one_sentence(model: nn.Module, rows: Tensor, error: Exception) -> PenstockError:
    """The sentence for what torch.export raised; its own text stays as the cause."""
    raised = error
    if isinstance(error, ForwardFailed) and isinstance(error.__cause__, Exception):
        raised = error.__cause__
    for path, part in layers(model):
        if isinstance(part, torch.jit.ScriptModule):
            return PenstockError(
                f"{describe(path, part)} is scripted or traced, and torch.export cannot read it; give the "
                "module it was made from"
            )
    if isinstance(raised, ConstraintViolationError) or "Constraints violated" in str(raised):
        return LostBatch(
            f"{subject(model, where_pinned(model, rows))} works for one number of examples only (a fixed "
            "view, len(x), int(x.shape[0]) or a loop over the rows); write x.shape[0] for the number of "
            "examples, and operations that take the whole batch"
        )
    return PenstockError(f"{subject(model, place_raised(model, raised))} {_meaning(raised)}")


def what_it_says(error: BaseException) -> str:
    """The first line of what an exception says, with its type."""
    text = str(error).strip().partition("\n")[0].rstrip(".")
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def _meaning(error: Exception) -> str:
    text = str(error)
    if isinstance(error, GuardOnDataDependentSymNode) or "data-dependent" in text:
        return (
            "decides what to compute from the values of a tensor (an if, a loop, an assert, .item() or "
            "float()), which no graph can follow; choose with torch.where, or move the check out of "
            "forward"
        )
    for signs, meaning in _MEANINGS:
        if any(sign in text for sign in signs):
            return meaning
    return (
        f"does something that torch.export cannot record ({what_it_says(error)}); write that part in plain "
        "torch operations"
    )
