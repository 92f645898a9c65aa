"""SiLU and GELU: gates that are numbers, σ(q) and Φ(q)."""

import torch

from penstock.gates.kinds import Smooth
from penstock.walk.ops.gating import Gating
from penstock.walk.site import Site

__all__ = ["GELU", "SiLU"]

aten = torch.ops.aten


class SiLU(Gating):
    reads = (aten.silu.default,)
    title = "SiLU"

    def kind(self, site: Site) -> Smooth:
        return Smooth.silu()


class GELU(Gating):
    reads = (aten.gelu.default,)
    title = "GELU"

    def kind(self, site: Site) -> Smooth:
        return Smooth.gelu(site["approximate"])  # pyright: ignore[reportArgumentType]
