"""Max-pooling: of every window, one entry is let through."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from penstock.gates.choice import AdaptiveChoice, Choice, Pooling
from penstock.walk.edges import Edges
from penstock.walk.operation import Operation
from penstock.walk.ops.pooling import by_channel, dimensions, passes
from penstock.walk.site import Site, numbers

__all__ = ["AdaptiveMaxPool", "MaxPool"]

aten = torch.ops.aten


class MaxPool(Operation):
    """An output can be reached from every entry of its window; the largest one's gate is open."""

    reads = (
        aten.max_pool1d.default,
        aten.max_pool2d.default,
        aten.max_pool3d.default,
        aten.max_pool1d_with_indices.default,
        aten.max_pool2d_with_indices.default,
        aten.max_pool3d_with_indices.default,
    )
    title = "max-pooling"

    def kind(self, site: Site) -> Pooling:
        sizes = (site.sizes(name) for name in ("kernel_size", "stride", "padding", "dilation"))
        return Choice.of(dimensions(site), *sizes, ceil_mode=bool(site["ceil_mode"]))

    def edges(self, site: Site) -> Iterator[Edges]:
        nodes, dims, passed = site.nodes("self"), dimensions(site), passes(site, "self")
        target = by_channel(site.outputs, dims)[:, passed.output]
        source = nodes.laid(by_channel(nodes.number, dims)[:, passed.input])
        yield Edges(target, source, gate=numbers(target.shape), stops=True)

    def gates(self, site: Site, q: Float[Tensor, "*shape"], n: int) -> Float[Tensor, "n gates"]:
        """For every channel, output position and entry of its window: whether torch chose it."""
        output, source, _ = (part.to(q.device) for part in passes(site, "self"))
        chosen = self.kind(site).indices(q).flatten(-dimensions(site))
        return (chosen[..., output] == source).reshape(n, -1).to(q.dtype)


class AdaptiveMaxPool(MaxPool):
    """As max-pooling, with windows that divide the input into a given number."""

    reads = (
        aten.adaptive_max_pool1d.default,
        aten.adaptive_max_pool2d.default,
        aten.adaptive_max_pool3d.default,
    )
    title = "max-pooling"

    def kind(self, site: Site) -> Pooling:
        return AdaptiveChoice.of(dimensions(site), site.shape[-dimensions(site) :])
