"""The module itself, run before it is exported: what it says of its input is plainer than export's words."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import Node

from penstock.errors import PenstockError
from penstock.model.calling import call
from penstock.model.found import left_as_found
from penstock.model.parts import describe, layers
from penstock.walk.place import place_raised, source_in_trace, subject
from penstock.walk.refusal import what_it_says

__all__ = ["rehearse"]

# hooks on gradients, operators of torch.library; not a reentrant checkpoint, whose forward has no gradients
_TORCHS_OWN = ("torch.nn.", "torch._")


def rehearse(model: nn.Module, rows: Tensor) -> None:
    """Refuse what shows without a graph: wrong inputs, wrong outputs, wrappers, derivatives of one's own."""
    for path, module in layers(model):
        if isinstance(module, nn.DataParallel | nn.parallel.DistributedDataParallel):
            raise PenstockError(
                f"{describe(path, module)} spreads a batch over devices; give the module inside, .module"
            )
    with left_as_found(model):
        _run(model, rows.clone())
        found = _own_derivative(model, rows)
    if found is not None:
        raise PenstockError(
            f"{found} is an autograd Function with a derivative of its own, which a graph cannot know; "
            "write it in torch operations (a checkpoint: with use_reentrant=False)"
        )


def _run(model: nn.Module, rows: Tensor) -> None:
    try:
        with torch.no_grad():
            call(model, rows)
    except (PenstockError, torch.OutOfMemoryError):
        raise
    except Exception as error:
        shape = "×".join(map(str, rows.shape))
        raise PenstockError(
            f"{subject(model, place_raised(model, error))} fails on an input of shape {shape} "
            f"({what_it_says(error)}); a module is read by running it, so make model(x) work first"
        ) from error


def _own_derivative(model: nn.Module, rows: Tensor) -> str | None:
    """The first autograd Function on the way to the output, with its line; torch's own for hooks are none."""
    with torch.enable_grad(), torch.autograd.set_detect_anomaly(True, check_nan=False):
        try:
            # not a leaf, so that a first layer may work in place
            y = model(rows.clone().requires_grad_().clone())
        except Exception:
            return None  # what runs without gradients alone has no derivatives to be wrong about
        for node in _backward(y.grad_fn):
            function = getattr(node, "_forward_cls", None)
            if function is not None and not function.__module__.startswith(_TORCHS_OWN):
                metadata: Any = node.metadata
                line = source_in_trace("".join(metadata.get("traceback_", ())))
                return ", ".join(part for part in (function.__name__, line) if part)
    return None


def _backward(last: Node | None) -> Iterator[Node]:
    """Every node of autograd's graph, once."""
    waiting, seen = [last], set[Node]()
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            yield node
            waiting.extend(parent for parent, _ in node.next_functions)
