"""Matrix products of the signal with something held, on either side."""

from collections.abc import Iterator

import torch

from penstock.walk.edges import Edges, product, terms
from penstock.walk.operation import Operation
from penstock.walk.site import Site

__all__ = ["AddedMatmul", "Matmul"]

aten = torch.ops.aten


class Matmul(Operation):
    """`Σ_k left[…, i, k] · right[…, k, j]`, where one of the two is held."""

    reads = (aten.matmul.default, aten.mm.default, aten.bmm.default, aten.mv.default, aten.dot.default)
    title = "matrix products with a parameter"

    def edges(self, site: Site) -> Iterator[Edges]:
        left, right = list(site.step.arguments)[:2]
        yield matrix_product(site, left, right)


class AddedMatmul(Operation):
    """`beta · input + alpha · left @ right`."""

    reads = (aten.addmm.default, aten.baddbmm.default, aten.addmv.default)
    title = "matrix products with a parameter"

    def edges(self, site: Site) -> Iterator[Edges]:
        left, right = list(site.step.arguments)[1:3]
        yield from terms(site, "self", site.scalar("beta"))
        yield matrix_product(site, left, right).times(site.scalar("alpha"))


def matrix_product(site: Site, left: str, right: str) -> Edges:
    """The edges of torch's product, for which a vector is a row on the left and a column on the right."""
    a, b = site.operand(left), site.operand(right)
    rows, columns, target = a.number, b.number, site.outputs
    if columns.ndim == 1:
        columns, target = columns[:, None], target[..., None]
    if rows.ndim == 1:
        rows, target = rows[None, :], target[..., None, :]
    a, b = a.laid(rows[..., :, :, None]), b.laid(columns[..., None, :, :])
    return product(site, target[..., :, None, :], a, b)
