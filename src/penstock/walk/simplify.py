"""What in an exported graph is no operation: copies, views that change nothing, dropout at rest.

A copy is replaced by what it copies. A tensor that reads another for its shape alone (`zeros_like(x)`, an
overwritten `h[:, 0] = 0`) is made from the shape instead, so that it counts as held. A view becomes the
`reshape` that it is, which asks nothing of how its input lies in memory.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, fx

from penstock.walk.step import Extent

__all__ = ["repeated", "rewritten"]

aten = torch.ops.aten

_COPIES = {
    "clone",
    "alias",
    "contiguous",
    "lift",
    "lift_fresh",
    "lift_fresh_copy",
    "_to_copy",
    "to",
    "type_as",
}
_VIEWS = {"view", "_unsafe_view", "reshape", "expand", "slice"}
_OVERWRITES = {"copy", "slice_scatter"}
_DROPOUTS = {"dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"}
_CONSTANTS = {"zeros_like": 0, "new_zeros": 0, "ones_like": 1, "new_ones": 1, "empty_like": 0, "new_empty": 0}

Sizes = tuple[int | Extent, ...]


def repeated(node: fx.Node, sizes: Mapping[str, Sizes]) -> fx.Node | None:
    """The node whose value this one only repeats, if it does; `sizes` holds every tensor's shape by name."""
    name, args = _name(node), _arguments(node)
    if name in _COPIES | _VIEWS and _alike(node, args[0], sizes):
        return args[0]
    if name in _OVERWRITES and _alike(node, args[1], sizes):
        return args[1]
    if name in _DROPOUTS and not args[2]:
        return args[0]
    return None


def rewritten(node: fx.Node, sizes: Sizes) -> tuple[Any, tuple[Any, ...], dict[str, Any]] | None:
    """Target, arguments and options of a plainer operation that makes the same tensor, if there is one."""
    name, args, made = _name(node), _arguments(node), node.meta["val"]
    options = {"dtype": made.dtype, "device": made.device}
    if name in ("view", "_unsafe_view"):
        return aten.reshape.default, args, {}
    if name == "rrelu":
        return _at_rest(*args)
    if name in _CONSTANTS:
        return aten.full.default, (list(sizes), _CONSTANTS[name]), options
    if name in ("full_like", "new_full"):
        return aten.full.default, (list(sizes), args[-1]), options
    if name == "fill" and not isinstance(args[1], fx.Node):
        return aten.full.default, (list(sizes), args[1]), options
    if name in ("fill", "copy") and args[1].meta["val"].dtype == made.dtype:
        return aten.expand.default, (args[1], list(sizes)), {}
    return None


def _at_rest(
    q: fx.Node, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, generator: Any = None
) -> tuple[Any, tuple[Any, ...], dict[str, Any]] | None:
    """A ReLU with random slopes has the mean of them in evaluation mode."""
    return None if training else (aten.leaky_relu.default, (q, (lower + upper) / 2), {})


def _name(node: fx.Node) -> str:
    """`slice` for `aten.slice.Tensor`; nothing for operations that are not torch's own."""
    namespace, _, name = getattr(getattr(node.target, "_schema", None), "name", "").partition("::")
    # a view as another dtype reads the same bytes as other numbers
    return name if namespace == "aten" and node.target is not aten.view.dtype else ""


def _arguments(node: fx.Node) -> tuple[Any, ...]:
    return node.args


def _alike(node: fx.Node, other: Any, sizes: Mapping[str, Sizes]) -> bool:
    one, two = node.meta["val"], other.meta["val"]
    return (
        isinstance(two, Tensor)
        and sizes[node.name] == sizes[other.name]
        and (one.dtype, one.device) == (two.dtype, two.device)
    )
