"""Convolutions over one, two or three dimensions, and their transposes."""

import torch
from jaxtyping import Float64
from torch import Tensor

from penstock.paths.onepass.applied import Applied

__all__ = ["RULES"]

_GEOMETRY = ("stride", "padding", "dilation", "transposed", "output_padding")


def _convolution(applied: Applied) -> Float64[Tensor, "n channels *size"]:
    """Within a group, output o reads input i through `W[o, i, tap]`; a tap on the padding is no path. A bias
    starts one at every position."""
    shadow, held = applied.shadow("input"), applied.held("weight")
    geometry = [applied[name] for name in _GEOMETRY]
    if applied.measure.counts:
        made = _counted(applied, shadow, held.values, geometry)
    else:
        weight = applied.measure.weight(held)
        made = applied.measure.numbers.through(
            shadow,
            lambda plain: torch.ops.aten.convolution(
                plain, weight.values, None, *geometry, applied["groups"]
            ),
            weight.log,
        )
    if applied["bias"] is None:
        return made
    bias = applied.summand(applied.held("bias"))
    return applied.measure.numbers.plus(made, bias.reshape(-1, *(1 for _ in made.shape[2:])))


def _counted(
    applied: Applied, shadow: Float64[Tensor, "n channels *size"], weight: Tensor, geometry: list
) -> Float64[Tensor, "n made *out"]:
    """Every output channel of a group is reached by as many paths as any other, so one is computed for all:
    the input channels added up, and the sum over each window."""
    groups = int(applied["groups"])
    channels = weight.shape[1] if applied["transposed"] else weight.shape[0] // groups
    ones = torch.ones(1, 1, *weight.shape[2:], dtype=torch.float64, device=weight.device)

    def map(plain: Tensor) -> Tensor:
        by_group = plain.unflatten(1, (groups, -1)).sum(2)
        alone = torch.ops.aten.convolution(by_group.flatten(0, 1)[:, None], ones, None, *geometry, 1)
        return alone[:, 0].unflatten(0, by_group.shape[:2])

    reached = applied.measure.numbers.through(shadow, map)
    size = reached.shape[2:]
    return reached[:, :, None].expand(-1, -1, channels, *size).flatten(1, 2)


RULES = {"convolution": _convolution}
