"""Sums and differences, of signals with each other and with something held."""

from collections.abc import Iterator

import torch

from penstock.walk.edges import Edges, terms
from penstock.walk.operation import Operation
from penstock.walk.site import Site

__all__ = ["Addition", "Negation", "ReversedSubtraction", "Subtraction"]

aten = torch.ops.aten


class Addition(Operation):
    """`self + alpha · other`. A signal's paths pass on; something held starts a path at every entry."""

    reads = (aten.add.Tensor, aten.add.Scalar)
    title = "sums"

    def edges(self, site: Site) -> Iterator[Edges]:
        yield from terms(site, "self")
        yield from terms(site, "other", site.scalar("alpha"))


class Subtraction(Operation):
    """`self - alpha · other`: the paths of what is taken away pass a constant weight of -alpha."""

    reads = (aten.sub.Tensor, aten.sub.Scalar)
    title = "differences"

    def edges(self, site: Site) -> Iterator[Edges]:
        yield from terms(site, "self")
        yield from terms(site, "other", -site.scalar("alpha"))


class ReversedSubtraction(Operation):
    """`other - alpha · self`."""

    reads = (aten.rsub.Tensor, aten.rsub.Scalar)
    title = "differences"

    def edges(self, site: Site) -> Iterator[Edges]:
        yield from terms(site, "other")
        yield from terms(site, "self", -site.scalar("alpha"))


class Negation(Operation):
    """A constant weight of -1."""

    reads = (aten.neg.default,)
    title = "differences"

    def edges(self, site: Site) -> Iterator[Edges]:
        yield from terms(site, "self", -1.0)
