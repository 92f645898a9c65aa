"""Calling a model on a batch, with torch's own refusals told in one sentence that names the layer."""

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from penstock.errors import PenstockError
from penstock.model.checks import check_output
from penstock.model.parts import describe, layers
from penstock.model.source import is_the_users, line_text

__all__ = ["call", "check_arguments", "eager", "misfits_told"]

# What torch's errors about the shape, the dtype or the device of a tensor have in them.
_MISFITS = ("shape", "size", "dimension", "channels", "dtype", "scalar type", "same device", "expected")

# What torch says of a view that does not hold the numbers there are, and what mostly is the cause of it.
_VIEW = "is invalid for input of size"
_FIXED_VIEW = "where a view fixes the number of examples, write x.shape[0] for it, so that any number will do"


def call(model: nn.Module, batch: Tensor) -> Tensor:
    """`model(batch)`, checked: one tensor with a row for each example of the batch."""
    check_arguments(model)
    with misfits_told(model, batch):
        y = model(batch)
    return check_output(model, y, len(batch))


@contextmanager
def misfits_told(model: nn.Module, batch: Tensor) -> Iterator[None]:
    """Inside, `model` runs on `batch`: what torch says of a shape that does not fit becomes our sentence."""
    try:
        yield
    except (torch.OutOfMemoryError, NotImplementedError, RecursionError, PenstockError):
        raise
    except (RuntimeError, ValueError, IndexError) as error:
        sentence = _misfit(model, batch, error)
        if sentence is None:
            raise
        raise PenstockError(sentence) from error


def check_arguments(model: nn.Module) -> None:
    """Refuses a model that cannot be called with one batch alone."""
    try:
        signature = inspect.signature(model.forward)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(None)
    except TypeError:
        needed = [
            name
            for name, parameter in signature.parameters.items()
            if parameter.default is parameter.empty
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        ]
        told = f"takes {len(needed)} arguments ({', '.join(needed)})" if needed else "takes no argument"
        raise PenstockError(
            f"the forward of {type(model).__name__} {told}, and a model is called with one batch; wrap it: "
            "penstock.adapt(model, lambda model, batch: …)"
        ) from None


@contextmanager
def eager() -> Iterator[None]:
    """Inside, what `torch.compile` has compiled runs as the Python it was made from, and can be watched."""
    # whoever compiled something has this loaded; to load it for nothing would take seconds
    compiled = "torch._dynamo" in sys.modules
    with torch.compiler.set_stance("force_eager") if compiled else nullcontext():
        yield


def _misfit(model: nn.Module, batch: Tensor, error: Exception) -> str | None:
    """What a layer said of its input, in one sentence; None where the error is about something else."""
    path, module, inputs, line = _innermost(model, error)
    who, given = describe(path, module), f"x has shape {_shape(batch)}"
    if inputs and isinstance(inputs[0], Tensor):
        sizes = _sizes(module, inputs[0])
        if sizes is not None:
            what, wanted, got = sizes
            return f"{who} takes {wanted} {what} and is given {got} ({given}); give x the right size"
        if type(module).__module__.startswith("torch.nn.modules."):
            return f"{who} cannot take an input of shape {_shape(inputs[0])} ({given}): {_first_line(error)}"
    # a ValueError or an IndexError raised in the user's own code is the user's own sentence
    if not isinstance(error, ValueError) and any(word in str(error).lower() for word in _MISFITS):
        what = f"{who} cannot be computed at {line or 'this input'} ({given}): {_first_line(error)}"
        return f"{what}; {_FIXED_VIEW if _VIEW in str(error) else 'make model(x) work on such an x first'}"
    return None


def _sizes(module: nn.Module, q: Tensor) -> tuple[str, int, int] | None:
    """What the layer counts, how many it was made for, and how many it is given, where the two differ."""
    match module:
        case nn.Linear() if q.ndim:
            what, wanted, got = "features", module.in_features, q.shape[-1]
        case nn.modules.conv._ConvNd() if q.ndim - len(module.kernel_size) in (1, 2):
            what, wanted, got = "channels", module.in_channels, q.shape[-len(module.kernel_size) - 1]
        case nn.modules.batchnorm._NormBase() if q.ndim > 1:
            what, wanted, got = "channels", module.num_features, q.shape[1]
        case nn.RNNBase() if q.ndim:
            what, wanted, got = "features", module.input_size, q.shape[-1]
        case nn.MultiheadAttention() if q.ndim:
            what, wanted, got = "features", module.embed_dim, q.shape[-1]
        case nn.LayerNorm() if q.ndim:
            what, wanted, got = "features", module.normalized_shape[-1], q.shape[-1]
        case _:
            return None
    return None if wanted == got else (what, wanted, got)


def _innermost(model: nn.Module, error: Exception) -> tuple[str, nn.Module, tuple[Any, ...], str]:
    """The last of the model's layers that was being called when the error rose, what it was called with, and
    the last line of the user's own source."""
    paths = {id(module): (path, module) for path, module in reversed(list(layers(model)))}
    path, module, inputs, line = "", model, (), ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code is nn.Module._call_impl.__code__:
            called = trace.tb_frame.f_locals
            if id(called["self"]) in paths:
                (path, module), inputs = paths[id(called["self"])], called["args"]
        elif is_the_users(code.co_filename):
            line = line_text(code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    return path, module, inputs, line


def _shape(tensor: Tensor) -> str:
    return "×".join(map(str, tensor.shape)) or "()"


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".")
