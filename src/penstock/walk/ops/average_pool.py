"""Average pooling: every channel alone, with constant weights."""

from collections.abc import Iterator

import torch

from penstock.walk.edges import Edges
from penstock.walk.operation import Operation
from penstock.walk.ops.pooling import Passes, channel_edges, dimensions, passes
from penstock.walk.ops.windows import each, taps
from penstock.walk.site import Site

__all__ = ["AdaptiveAveragePool", "AveragePool"]

aten = torch.ops.aten


class AveragePool(Operation):
    """An output reads every entry of its window through the constant weight 1/k.

    What k is at the border depends on padding, `ceil_mode` and `divisor_override`. It is taken from torch:
    pooling ones gives the number of entries in the window, over k.
    """

    reads = (aten.avg_pool1d.default, aten.avg_pool2d.default, aten.avg_pool3d.default)
    title = "average pooling"

    def edges(self, site: Site) -> Iterator[Edges]:
        dims = dimensions(site)
        size, out = site.nodes("self").number.shape[-dims:], site.shape[-dims:]
        kernel = each(site.sizes("kernel_size"), dims)
        window = taps(
            size,
            out,
            kernel,
            stride=each(site.sizes("stride"), dims) or kernel,
            padding=each(site.sizes("padding"), dims),
            dilation=[1] * dims,
        )
        ones = {site.nodes("self").signal: torch.ones(1, 1, *size, dtype=torch.float64)}
        share = site.step.call({**site.held, **ones}, batch=1).flatten()
        k = (torch.bincount(window.output) / share).round()
        yield from channel_edges(site, "self", Passes(window.output, window.input, (1 / k)[window.output]))


class AdaptiveAveragePool(Operation):
    """As average pooling, with windows that divide the input into a given number."""

    reads = (
        aten.adaptive_avg_pool1d.default,
        aten.adaptive_avg_pool2d.default,
        aten.adaptive_avg_pool3d.default,
    )
    title = "average pooling"

    def edges(self, site: Site) -> Iterator[Edges]:
        yield from channel_edges(site, "self", passes(site, "self"))
