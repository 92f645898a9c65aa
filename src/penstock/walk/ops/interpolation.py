"""Upsampling by linear or cubic interpolation: every channel alone, with constant weights."""

from collections.abc import Iterator

import torch

from penstock.walk.edges import Edges
from penstock.walk.operation import Operation
from penstock.walk.ops.pooling import channel_edges, passes
from penstock.walk.site import Site

__all__ = ["Interpolation"]

aten = torch.ops.aten


class Interpolation(Operation):
    """An output reads the entries near it through the constant weights that interpolation gives them."""

    reads = (
        aten.upsample_linear1d.vec,
        aten.upsample_bilinear2d.vec,
        aten.upsample_trilinear3d.vec,
        aten.upsample_bicubic2d.vec,
    )
    title = "upsampling"

    def edges(self, site: Site) -> Iterator[Edges]:
        yield from channel_edges(site, "input", passes(site, "input"))
