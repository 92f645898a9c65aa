"""Linear layers: `y = x Wᵀ + b` over the last dimension."""

from collections.abc import Iterator, Mapping

import torch
from jaxtyping import Int64
from torch import Tensor

from penstock.walk.edges import Edges
from penstock.walk.operation import Operation
from penstock.walk.site import Site

__all__ = ["Linear"]

aten = torch.ops.aten


class Linear(Operation):
    """Output i of every position reads input j through `W[i, j]`; a bias starts a path at each output."""

    reads = (aten.linear.default,)
    title = "linear layers"

    def edges(self, site: Site) -> Iterator[Edges]:
        x, weight = site.nodes("input"), site.weight("weight")
        yield Edges(site.outputs[..., :, None], x.laid(x.number[..., None, :]), weight)
        if site["bias"] is not None:
            yield Edges(site.outputs, None, site.weight("bias"))

    def count(
        self, site: Site, counts: Mapping[str, Tensor], one: Int64[Tensor, " digits"]
    ) -> Int64[Tensor, "digits nodes"]:
        """Every output of a position is reached by equally many paths."""
        x, _ = site.nodes("input"), site.weight("weight")
        reached = counts[x.signal].sum(-1, keepdim=True)
        if site["bias"] is not None:
            reached = reached + one.reshape(-1, *(1 for _ in site.shape))
        return reached.expand(-1, *site.shape).flatten(1)
