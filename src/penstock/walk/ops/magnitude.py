"""Absolute value: a gate of 1 above 0 and of -1 elsewhere."""

import torch

from penstock.gates.kinds import Magnitude
from penstock.walk.ops.gating import Gating
from penstock.walk.site import Site

__all__ = ["AbsoluteValue"]

aten = torch.ops.aten


class AbsoluteValue(Gating):
    reads = (aten.abs.default,)
    title = "absolute value"

    def kind(self, site: Site) -> Magnitude:
        return Magnitude()
