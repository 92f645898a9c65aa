"""Means and sums over whole dimensions, such as global average pooling written as a mean."""

from collections.abc import Iterator

import torch
from jaxtyping import Int64
from torch import Tensor

from penstock.walk.edges import Edges
from penstock.walk.operation import Operation
from penstock.walk.site import Site, Weight

__all__ = ["Mean", "Sum"]

aten = torch.ops.aten


class Sum(Operation):
    """Every entry that is added up passes on to the sum, which is a node of the path."""

    reads = (aten.sum.dim_IntList,)
    title = "means and sums over positions"

    def edges(self, site: Site) -> Iterator[Edges]:
        yield Edges(kept(site), site.nodes("self"), stops=True)


class Mean(Operation):
    """As a sum, with the constant weight 1/k."""

    reads = (aten.mean.dim,)
    title = "means and sums over positions"

    def edges(self, site: Site) -> Iterator[Edges]:
        nodes = site.nodes("self")
        yield Edges(kept(site), nodes, Weight.constant(site.outputs.numel() / nodes.number.numel()))


def kept(site: Site) -> Int64[Tensor, "*#shape"]:
    """The output's nodes, with a 1 for every dimension that is added up."""
    shape = list(site.nodes("self").number.shape)
    dims = site["dim"] or range(len(shape))
    for dim in dims:  # pyright: ignore[reportGeneralTypeIssues]
        shape[dim] = 1
    return site.outputs.reshape(shape)
