"""Operations that only move, copy or drop entries: what they do to a shadow is what they do to the signal.

Something held that is moved among the signal starts a path at every entry; padding by zeros does not.
"""

from typing import Any

import torch
from jaxtyping import Float64
from torch import Tensor

from penstock.paths.onepass.applied import Applied, NotAffine, Signal, base_name
from penstock.paths.onepass.measures import Held

__all__ = ["RULES"]

aten = torch.ops.aten

# Their indices stay as they are.
_MOVES = (
    *(
        "cat",
        "stack",
        "repeat",
        "tile",
        "flip",
        "roll",
        "rot90",
        "im2col",
        "gather",
        "index",
        "_unsafe_index",
    ),
    *(
        "index_select",
        "take_along_dim",
        "select_scatter",
        "slice_scatter",
        "diagonal_scatter",
        "tril",
        "triu",
    ),
    *("pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "native_channel_shuffle", "expand_copy"),
    *("reflection_pad1d", "reflection_pad2d", "reflection_pad3d"),
    *("replication_pad1d", "replication_pad2d", "replication_pad3d"),
    *("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"),
    *("_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d"),
    *("_unsafe_view", "_reshape_copy", "view_copy", "unfold_copy", "diag_embed"),
)
_COPIES = ("clone", "_to_copy", "contiguous", "alias", "dropout", "feature_dropout", "alpha_dropout", "lift")


def _moved(applied: Applied) -> Float64[Tensor, "..."]:
    parts: list[Tensor] = []
    laid = {name: _taken(applied, given, parts) for name, given in applied.arguments.items() if name != "out"}
    operation = getattr(aten, base_name(applied.operation))

    def move(entries: list[Tensor]) -> Tensor:
        return operation(**{name: _put_back(given, entries) for name, given in laid.items()})

    return applied.measure.numbers.moved(parts, move)


class _Place(int):
    """Stands where one of the parts goes."""


def _taken(applied: Applied, given: Any, parts: list[Tensor]) -> Any:
    if isinstance(given, list):
        return [_taken(applied, each, parts) for each in given]
    if isinstance(given, Signal) or (isinstance(given, Held) and given.values.is_floating_point()):
        parts.append(applied.entry(given))
        return _Place(len(parts) - 1)
    return given.values if isinstance(given, Held) else given


def _put_back(given: Any, entries: list[Tensor]) -> Any:
    if isinstance(given, list):
        return [_put_back(each, entries) for each in given]
    return entries[given] if isinstance(given, _Place) else given


def _copied(applied: Applied) -> Float64[Tensor, "..."]:
    return next(given.shadow for given in applied.arguments.values() if isinstance(given, Signal))


def _written(applied: Applied) -> Float64[Tensor, "..."]:
    """`copy_`: what is written is there afterwards."""
    return applied.entry(applied["src"])


def _filled(applied: Applied) -> Float64[Tensor, "..."]:
    return applied.entry(applied["value"])


def _zeroed(applied: Applied) -> Float64[Tensor, "..."]:
    return applied.entry(0.0)


def _padded(applied: Applied) -> Float64[Tensor, "..."]:
    value = float(applied["value"])
    none, there = applied.measure.numbers.none, float(applied.entry(value))
    shadow = applied.shadow("self")
    return aten.constant_pad_nd(shadow, applied["pad"], there if value else none)


def _masked(applied: Applied) -> Float64[Tensor, "..."]:
    """`masked_fill`."""
    return torch.where(
        applied.held("mask").values, applied.entry(applied["value"]), applied.entry(applied["self"])
    )


def _chosen(applied: Applied) -> Float64[Tensor, "..."]:
    """`where`, by a condition that is held."""
    chosen = applied.held("condition").values.bool()
    return torch.where(chosen, applied.entry(applied["self"]), applied.entry(applied["other"]))


def _put(applied: Applied) -> Float64[Tensor, "..."]:
    """`index_put`."""
    if applied["accumulate"]:
        raise NotAffine("adds up what is put in one place; write it as a sum")
    indices = [None if each is None else each.values for each in applied["indices"]]
    return applied.entry(applied["self"]).clone().index_put_(indices, applied.entry(applied["values"]))


RULES = {
    **dict.fromkeys(_MOVES, _moved),
    **dict.fromkeys(_COPIES, _copied),
    "copy": _written,
    "fill": _filled,
    "zero": _zeroed,
    "constant_pad_nd": _padded,
    "masked_fill": _masked,
    "where": _chosen,
    "index_put": _put,
    "_index_put_impl": _put,
}
