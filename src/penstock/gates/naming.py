"""What a watched call is called: the path of the layer that makes it, and how often that has happened.

The path is read off the running program itself, from the frames of the layers that are being called at this
moment. So nothing is patched or hooked, and exceptions, recursion, shared layers, `functional_call` and the
user's threads leave nothing behind.
"""

import inspect
import sys
from collections import Counter
from types import CodeType, FrameType

from torch import nn

from penstock.model import layers
from penstock.model.source import line_of

__all__ = ["Names"]

_CALL: CodeType = nn.Module._call_impl.__code__


class Names:
    """The names of the watched calls of one run of a model, given in the order of the calls."""

    def __init__(self, model: nn.Module):
        # the modules are held on to, so that none made meanwhile can have the identity of one of these
        self._layers = {id(module): (_plain(path), module) for path, module in reversed(list(layers(model)))}
        self._calls: Counter[str] = Counter()
        self._given: set[str] = set()

    def restart(self) -> None:
        """Counts from one again: a new run of the model."""
        self._calls.clear()
        self._given.clear()

    def give(self, base: str) -> str:
        """`base`, and from the second time on `base:2`, `base:3`, …"""
        name = ""
        while not name or name in self._given:
            self._calls[base] += 1
            name = base if self._calls[base] == 1 else f"{base}:{self._calls[base]}"
        self._given.add(name)
        return name

    def layer(self) -> tuple[str, nn.Module | None]:
        """The innermost layer of the model that is being called, with its path."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_code is _CALL:
                known = self._layers.get(id(frame.f_locals["self"]))
                if known is not None:
                    return known
            frame = frame.f_back
        return "", None

    def place(self, function: str) -> str:
        """Where a function is being called, for a sentence: `relu (in blocks.2, line 31 of model.py)`."""
        path, _ = self.layer()
        where = ", ".join(part for part in (f"in {path}" if path else "", line_of(sys._getframe(1))) if part)
        return f"{function} ({where})" if where else function


# What `torch.compiler.disable` sets, which would load the compiler: a compiled module calls this as it is.
vars(inspect.unwrap(Names.layer))["_torchdynamo_disable"] = True


def _plain(path: str) -> str:
    """Compiling a module wraps it; its layers keep the names they had."""
    return ".".join(part for part in path.split(".") if part != "_orig_mod")
