"""What every question asks of a model before it runs, and of what the model returns."""

from typing import Any

import torch
from torch import Tensor, nn

from penstock.errors import PenstockError
from penstock.model.modes import check_mode
from penstock.model.place import placement

__all__ = ["check", "check_module", "check_output"]


def check(model: nn.Module) -> None:
    """A module with weights, on one device, in one real floating dtype, in a mode that makes rows
    independent.

    Training mode is accepted where nothing in the model depends on it.
    """
    check_module(model)
    placement(model)
    check_mode(model)


def check_module(model: object) -> None:
    """A module, where something else may have been given: its class, a function, a name."""
    if isinstance(model, type) and issubclass(model, nn.Module):
        raise PenstockError(
            f"the model is the class {model.__name__}; make one of it first: {model.__name__}(…)"
        )
    if not isinstance(model, nn.Module):
        raise PenstockError(
            f"the model must be a torch.nn.Module, not {type(model).__name__}; a function can be put in the "
            "forward of one"
        )


def check_output(model: nn.Module, y: Any, n: int) -> Tensor:
    """What the model returned for n examples, if it is a tensor with one row an example and without NaN."""
    name = type(model).__name__
    if not isinstance(y, Tensor):
        raise PenstockError(f"{_what_else(name, y)}, and one tensor is needed; wrap it: {_wrapped(y)}")
    if y.is_meta:
        raise PenstockError(
            f"{name} returns a tensor on the meta device, which has no numbers; look for a tensor of its own "
            "that is there"
        )
    if y.ndim == 0:
        raise PenstockError(
            f"{name} returns a single number for {n} examples, where one row an example is needed; leave the "
            "mean or the loss out of its forward, or wrap it with penstock.adapt"
        )
    if len(y) != n:
        raise PenstockError(
            f"{name} returns {len(y)} rows for {n} examples, where one row an example is needed; wrap it "
            "with penstock.adapt(model, forward)"
        )
    if y.is_floating_point() and bool(torch.isnan(y).any()):
        row = (
            int(torch.isnan(y).flatten(1).any(1).nonzero()[0])
            if y.ndim > 1
            else int(torch.isnan(y).nonzero()[0])
        )
        raise PenstockError(
            f"{name} returns NaN for row {row} of an input without NaN; look at its weights first"
        )
    return y


def _what_else(name: str, y: Any) -> str:
    match y:
        case dict():
            return f"{name} returns a dictionary ({', '.join(map(str, y))})"
        case tuple() | list():
            return f"{name} returns a {type(y).__name__} of {len(y)}"
    return f"{name} returns {'nothing' if y is None else f'an object of type {type(y).__name__}'}"


def _wrapped(y: Any) -> str:
    """How to take a tensor out of what was returned, with a real key where there is one."""
    match y:
        case dict() if y:
            taken = f"model(batch)[{next(iter(y))!r}]"
        case tuple() | list():
            taken = "model(batch)[0]"
        case _:
            taken = "…"
    return f"penstock.adapt(model, lambda model, batch: {taken})"
