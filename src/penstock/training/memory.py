"""How much memory an example takes on its way through a module."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from penstock.model import call, left_as_found
from penstock.training.some_examples import portion

__all__ = ["footprint", "rows_within"]

_ROWS = 2
# What one evaluation may take even where memory is plenty: more would leave the caches.
_MOST = 64 * 2**20


def footprint(model: nn.Module, x: Tensor) -> int:
    """The bytes of everything that the module computes for one example, all kept: what a backward pass
    needs."""
    few = x[:_ROWS]
    with left_as_found(model), torch.no_grad(), portion(model, slice(0, _ROWS)), _Counts() as counts:
        model.eval()
        call(model, few)
    return max(1, (counts.bytes + few.nbytes) // len(few))


def rows_within(memory: int, each: int, members: int) -> int:
    """How many examples can be evaluated at once, at least one."""
    return max(1, min(memory, _MOST) // (each * members))


class _Counts(TorchDispatchMode):
    """Adds up what operations give."""

    bytes = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        given = out if isinstance(out, tuple | list) else (out,)
        self.bytes += sum(each.nbytes for each in given if isinstance(each, Tensor))
        return out
