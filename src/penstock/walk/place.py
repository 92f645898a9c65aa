"""Where something stands in a user's module: the path of its layer, and the line of the user's own source."""

import re
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from types import FrameType

from torch import fx, nn

from penstock.model.parts import describe, layers
from penstock.model.source import is_the_users, line_text

__all__ = ["Place", "place_in_frames", "place_of_node", "place_raised", "source_in_trace", "subject"]


@dataclass(frozen=True)
class Place:
    """Reads as "blocks.2.conv1, line 31 of model.py"."""

    module: str
    """The path of the layer; empty for the model itself."""
    call: str
    """The function, where the call is inline."""
    source: str
    """The line of the user's file, where there is one."""

    @property
    def name(self) -> str:
        """The path, and the function where the call is inline."""
        return ".".join(part for part in (self.module, self.call) if part)

    def __str__(self) -> str:
        return ", ".join(part for part in (self.name, self.source) if part)


def subject(model: nn.Module, place: Place) -> str:
    """As a sentence begins: "the layer blocks.2.norm (BatchNorm2d), line 31 of model.py"."""
    if place.call:
        return str(place)
    module = dict(layers(model)).get(place.module, model)
    return ", ".join(part for part in (describe(place.module, module), place.source) if part)


def place_of_node(node: fx.Node) -> Place:
    """Where the call that made this node stands."""
    stack = node.meta.get("nn_module_stack") or {}
    path, kind = next(reversed(stack.values()), ("", ""))
    # the model hangs below a root of ours, and a layer called again has @ and a number
    path = re.sub(r"@\d+", "", path).removeprefix("model").removeprefix(".")
    if path.startswith("_empty_nn_module_stack"):
        path = ""
    is_torchs_own = bool(path) and str(kind).startswith("torch.nn.")
    return Place(
        path, "" if is_torchs_own else _call(node), source_in_trace(node.meta.get("stack_trace") or "")
    )


def place_in_frames(model: nn.Module, frames: Iterable[tuple[FrameType, int]]) -> Place:
    """Where a run of the model stands, from the frames of its stack, outermost first, each with its line."""
    paths = {id(module): path for path, module in reversed(list(layers(model)))}
    innermost, lines = "", []
    for frame, line in frames:
        if frame.f_code is nn.Module._call_impl.__code__:
            innermost = paths.get(id(frame.f_locals["self"]), innermost)
        lines.append((frame.f_code.co_filename, line))
    return Place(innermost, "", _innermost(lines))


def place_raised(model: nn.Module, error: BaseException) -> Place:
    """The place in the module that an exception comes from."""
    return place_in_frames(model, traceback.walk_tb(error.__traceback__))


def source_in_trace(trace: str) -> str:
    """The innermost of the user's own lines in a printed stack: "line 31 of model.py"; or nothing."""
    return _innermost((file, int(line)) for file, line in re.findall(r'File "(.+?)", line (\d+)', trace))


def _call(node: fx.Node) -> str:
    """The function as the user called it: `flatten` rather than the `view` that torch makes of it."""
    called = (node.meta.get("torch_fn") or ("", ""))[1].split(".")[-1].strip("_")
    if called in ("", "get", "default") or called.startswith("wrap_with"):
        return getattr(node.target, "__name__", str(node.target)).split(".")[0]
    return called


def _innermost(lines: Iterable[tuple[str, int]]) -> str:
    own = [line_text(file, line) for file, line in lines if is_the_users(file)]
    return own[-1] if own else ""
