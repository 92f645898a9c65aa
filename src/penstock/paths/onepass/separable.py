"""Weighted sums over windows, one dimension after the other: pooling, and upsampling by interpolation."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float64
from torch import Tensor

from penstock.gates.choice import AdaptiveChoice, Pooling
from penstock.paths.onepass.numbers import Numbers

__all__ = ["found_shares", "summed", "window_shares"]

Shares = Float64[Tensor, "out size"]
"""For one dimension: the weight with which each entry arrives at each output."""


def summed(
    numbers: Numbers, shadow: Float64[Tensor, "..."], shares: Sequence[Tensor], logs: Sequence[float] = ()
) -> Float64[Tensor, "..."]:
    """The sums over the last dimensions, with these shares along each, times the exponentials of `logs`."""
    logs = logs or [0.0] * len(shares)
    for dim, (share, log) in enumerate(zip(reversed(shares), reversed(logs), strict=True), start=1):
        shadow = numbers.through(shadow, _along(share, -dim), log)
    return shadow


def window_shares(kind: Pooling, shape: tuple[int, ...]) -> list[Tensor]:
    """1 where an entry lies in an output's window of max-pooling, for an input of this shape."""
    sizes = shape[-kind.dims :]
    outs = kind.indices(torch.empty(shape, device="meta")).shape[-kind.dims :]
    if isinstance(kind, AdaptiveChoice):
        return [_adaptive(size, out) for size, out in zip(sizes, outs, strict=True)]
    shares = []
    windows = kind.windows(tuple(sizes), tuple(outs), torch.device("cpu"))
    for size, out, window in zip(sizes, outs, windows, strict=True):
        place = window.first[:, None] + window.step * torch.arange(window.slots)
        inside = (place >= 0) & (place < size)
        share = torch.zeros(out, size, dtype=torch.float64)
        share[inside.nonzero()[:, 0], place[inside]] = 1
        shares.append(share)
    return shares


def found_shares(operation: Callable[[Tensor], Tensor], sizes: Sequence[int]) -> list[Tensor]:
    """Found by doing it: what arrives along each dimension where one row is 1 and the operation's shares
    along the others add up to 1."""
    shares = []
    for dim, size in enumerate(sizes):
        rows = torch.eye(size, dtype=torch.float64)
        images = rows.reshape(size, 1, *(size if d == dim else 1 for d in range(len(sizes))))
        arrived = operation(images.expand(size, 1, *sizes).contiguous())[:, 0]
        first = arrived.movedim(dim + 1, 1).reshape(size, arrived.shape[dim + 1], -1)[..., 0]
        shares.append(first.T.contiguous())
    return shares


def _along(share: Tensor, dim: int) -> Callable[[Tensor], Tensor]:
    def map(plain: Tensor) -> Tensor:
        return (plain.movedim(dim, -1) @ share.T.to(plain.device)).movedim(-1, dim)

    return map


def _adaptive(size: int, out: int) -> Tensor:
    output, entry = torch.arange(out)[:, None], torch.arange(size)
    first, end = output * size // out, ((output + 1) * size + out - 1) // out
    return ((entry >= first) & (entry < end)).double()
