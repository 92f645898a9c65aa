"""Average pooling and upsampling by interpolation: every channel alone, with constant weights."""

from collections.abc import Iterator

import torch

from penstock.walk.edges import Edges
from penstock.walk.operation import Operation
from penstock.walk.ops.pooling import by_channel, dimensions, passes
from penstock.walk.site import Site, Weight

__all__ = ["AveragePool"]

aten = torch.ops.aten


class AveragePool(Operation):
    """An output reads every entry of its window through a constant weight: 1/k, or interpolation's."""

    reads = (
        aten.avg_pool1d.default,
        aten.avg_pool2d.default,
        aten.avg_pool3d.default,
        aten.adaptive_avg_pool1d.default,
        aten.adaptive_avg_pool2d.default,
        aten.adaptive_avg_pool3d.default,
        aten.upsample_linear1d.vec,
        aten.upsample_bilinear2d.vec,
        aten.upsample_trilinear3d.vec,
        aten.upsample_bicubic2d.vec,
    )
    title = "average pooling"

    def edges(self, site: Site) -> Iterator[Edges]:
        argument = next(iter(site.step.arguments))
        nodes, dims, passed = site.nodes(argument), dimensions(site), passes(site, argument)
        yield Edges(
            by_channel(site.outputs, dims)[:, passed.output],
            nodes.laid(by_channel(nodes.number, dims)[:, passed.input]),
            Weight.constants(passed.value),
        )
