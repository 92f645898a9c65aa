"""Which inputs the windows of a convolution see, tap by tap."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Int64
from torch import Tensor

__all__ = ["Taps", "each", "taps"]


class Taps(NamedTuple):
    """A row for every tap of every output's window that falls on an input, not on the padding.

    Positions and taps are numbered in row order over all dimensions.
    """

    output: Int64[Tensor, " pairs"]
    tap: Int64[Tensor, " pairs"]
    input: Int64[Tensor, " pairs"]


def taps(
    size: Sequence[int],
    out: Sequence[int],
    kernel: Sequence[int],
    *,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Taps:
    """All of them, for these sizes: output o sees input `o·stride - padding + tap·dilation`."""
    output, tap, source = (torch.zeros(1, dtype=torch.int64) for _ in range(3))
    for extent, count, width, step, before, apart in zip(
        size, out, kernel, stride, padding, dilation, strict=True
    ):
        o, k = torch.meshgrid(torch.arange(count), torch.arange(width), indexing="ij")
        i = o * step - before + k * apart
        inside = (i >= 0) & (i < extent)
        output = (output[:, None] * count + o[inside]).flatten()
        tap = (tap[:, None] * width + k[inside]).flatten()
        source = (source[:, None] * extent + i[inside]).flatten()
    return Taps(output, tap, source)


def each(sizes: tuple[int, ...], dims: int) -> tuple[int, ...]:
    """torch's way with sizes: one number stands for every dimension."""
    return sizes * dims if len(sizes) == 1 else sizes
