"""Products and quotients, entry by entry, of a signal with something held."""

from collections.abc import Iterator

import torch

from penstock.walk.edges import Edges, product
from penstock.walk.operation import Operation
from penstock.walk.site import Nodes, Site, Weight

__all__ = ["Division", "Multiplication"]

aten = torch.ops.aten


class Multiplication(Operation):
    """Every entry passes the weight that it is multiplied by."""

    reads = (aten.mul.Tensor, aten.mul.Scalar)
    title = "products with a parameter or a constant"

    def edges(self, site: Site) -> Iterator[Edges]:
        yield product(site, site.outputs, site.operand("self"), site.operand("other"))


class Division(Operation):
    """Every entry passes the weight 1/divisor."""

    reads = (aten.div.Tensor, aten.div.Scalar)
    title = "quotients by a parameter or a constant"

    def edges(self, site: Site) -> Iterator[Edges]:
        divisor = site.operand("other")
        if isinstance(divisor, Nodes):
            raise site.refusal(
                "divides by a signal, which is not affine in the input; divide by something held"
            )
        name = divisor.name and f"1/{divisor.name}"
        inverse = Weight(name, divisor.values.reciprocal(), divisor.number, divisor.fixed)
        yield product(site, site.outputs, site.operand("self"), inverse)
