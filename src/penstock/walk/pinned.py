"""Where a module turns the number of examples into a fixed number."""

import contextlib
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from penstock.errors import PenstockError
from penstock.walk.export import exported
from penstock.walk.place import Place, place_in_frames

__all__ = ["LostBatch", "where_pinned"]


class LostBatch(PenstockError):
    """A module whose graph does not carry one row an example from its input to its output."""


def where_pinned(model: nn.Module, rows: Tensor) -> Place:
    """The place of the call that makes the batch a symbol no longer; the model itself where none shows."""
    found: list[Place] = []

    @contextlib.contextmanager
    def watching(x: Tensor) -> Iterator[None]:
        with _Pins(model, x, found):
            yield

    # it failed before, and is asked again for the place alone
    with contextlib.suppress(Exception):
        exported(model, rows, around=watching)
    return found[0] if found else Place("", "", "")


class _Pins(TorchFunctionMode):
    """Looks, around every call, whether the batch is still a symbol."""

    def __init__(self, model: nn.Module, x: Tensor, found: list[Place]):
        super().__init__()
        self.model, self.batch, self.found = model, x.shape[0], found
        self.counted: Place | None = None

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if self.found:
            return func(*args, **(kwargs or {}))
        here = place_in_frames(self.model, reversed(list(traceback.walk_stack(sys._getframe(1)))))
        if self._is_pinned():
            # between two calls: by a condition, or by the len() just before, which Python makes a number
            self.found.append(self.counted or here)
        result = func(*args, **(kwargs or {}))
        if not self.found and self._is_pinned():
            self.found.append(here)
        self.counted = here if func is Tensor.__len__ else None
        return result

    def _is_pinned(self) -> bool:
        return isinstance(self.batch, torch.SymInt) and not self.batch.node.expr.free_symbols
