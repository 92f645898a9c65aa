"""Max-pooling: of every window, one entry is let through."""

from abc import abstractmethod
from collections.abc import Iterator

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from penstock.gates.choice import AdaptiveChoice, Choice, Pooling
from penstock.walk.edges import Edges
from penstock.walk.operation import Operation
from penstock.walk.ops.pooling import by_channel, dimensions, passes
from penstock.walk.ops.windows import taps
from penstock.walk.site import Site, numbers

__all__ = ["AdaptiveMaxPool", "MaxPool", "Maximum"]

aten = torch.ops.aten

Pairs = tuple[Int64[Tensor, " pairs"], Int64[Tensor, " pairs"]]


class Maximum(Operation):
    """An output can be reached from every entry of its window; the largest one's gate is open."""

    title = "max-pooling"

    @abstractmethod
    def kind(self, site: Site) -> Pooling:
        """What the step's choices mean."""

    @abstractmethod
    def pairs(self, site: Site) -> Pairs:
        """Output positions, and the input positions of their windows; the same in every channel."""

    def edges(self, site: Site) -> Iterator[Edges]:
        nodes, dims, (output, source) = site.nodes("self"), dimensions(site), self.pairs(site)
        target = by_channel(site.outputs, dims)[:, output]
        read = nodes.laid(by_channel(nodes.number, dims)[:, source])
        yield Edges(target, read, gate=numbers(target.shape), stops=True)

    def gates(self, site: Site, q: Float[Tensor, "*shape"], n: int) -> Float[Tensor, "n gates"]:
        """For every channel, output position and entry of its window: whether torch chose it."""
        output, source = (position.to(q.device) for position in self.pairs(site))
        chosen = self.kind(site).indices(q).flatten(-dimensions(site))
        return (chosen[..., output] == source).reshape(n, -1).to(q.dtype)


class MaxPool(Maximum):
    reads = (
        aten.max_pool1d.default,
        aten.max_pool2d.default,
        aten.max_pool3d.default,
        aten.max_pool1d_with_indices.default,
        aten.max_pool2d_with_indices.default,
        aten.max_pool3d_with_indices.default,
    )

    def kind(self, site: Site) -> Choice:
        sizes = (site.sizes(name) for name in ("kernel_size", "stride", "padding", "dilation"))
        return Choice.of(dimensions(site), *sizes, ceil_mode=bool(site["ceil_mode"]))

    def pairs(self, site: Site) -> Pairs:
        kind, dims = self.kind(site), dimensions(site)
        size = site.nodes("self").number.shape[-dims:]
        geometry = {"stride": kind.stride, "padding": kind.padding, "dilation": kind.dilation}
        window = taps(size, site.shape[-dims:], kind.kernel, **geometry)
        return window.output, window.input


class AdaptiveMaxPool(Maximum):
    """With windows that divide the input into a given number."""

    reads = (
        aten.adaptive_max_pool1d.default,
        aten.adaptive_max_pool2d.default,
        aten.adaptive_max_pool3d.default,
    )

    def kind(self, site: Site) -> AdaptiveChoice:
        return AdaptiveChoice.of(dimensions(site), site.shape[-dimensions(site) :])

    def pairs(self, site: Site) -> Pairs:
        passed = passes(site, "self")
        return passed.output, passed.input
