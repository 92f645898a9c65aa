"""Max-pooling: of every window, one entry is let through."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from penstock.gates.choice import AdaptiveChoice, Choice, Pooling
from penstock.walk.edges import Edges
from penstock.walk.operation import Operation
from penstock.walk.ops.pooling import alone
from penstock.walk.site import Site

__all__ = ["AdaptiveMaxPool", "MaxPool"]

aten = torch.ops.aten


class MaxPool(Operation):
    """An output can be reached from every entry of its window; the gate of the one that is the largest is open."""

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
        sizes = [site[name] for name in ("kernel_size", "stride", "padding", "dilation")]
        kernel, stride, padding, dilation = (tuple(size) if isinstance(size, list) else size for size in sizes)
        return Choice.of(len(site.shape) - 2, kernel, stride, padding, dilation, bool(site["ceil_mode"]))

    def edges(self, site: Site) -> Iterator[Edges]:
        nodes, passes = site.nodes("self"), alone(site, "self")
        output = site.outputs.flatten(2)[:, :, passes.output]
        yield Edges(
            output,
            nodes.laid(nodes.number.flatten(2)[:, :, passes.input]),
            gate=torch.arange(output.numel()).reshape(output.shape),
            stops=True,
        )

    def gates(self, site: Site, q: Float[Tensor, "n *shape"], n: int) -> Float[Tensor, "n gates"]:
        """Of every channel, output position and entry of its window, whether it is the entry that torch chose."""
        passes = alone(site, "self")
        chosen = self.kind(site).indices(q).flatten(2)
        opened = chosen[:, :, passes.output.to(q.device)] == passes.input.to(q.device)
        return opened.reshape(n, -1).to(q.dtype)


class AdaptiveMaxPool(MaxPool):
    """As max-pooling, with windows that divide the input into a given number."""

    reads = (aten.adaptive_max_pool1d.default, aten.adaptive_max_pool2d.default, aten.adaptive_max_pool3d.default)
    title = "max-pooling"

    def kind(self, site: Site) -> Pooling:
        return AdaptiveChoice.of(len(site.shape) - 2, site.shape[2:])
