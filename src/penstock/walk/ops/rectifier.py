"""ReLU, LeakyReLU and PReLU: a gate that is 1 where the pre-activation is above 0 and the slope elsewhere."""

import torch

from penstock.gates.kinds import Rectifier
from penstock.walk.ops.gating import Gating
from penstock.walk.site import Site

__all__ = ["LeakyReLU", "PReLU", "ReLU"]

aten = torch.ops.aten


class ReLU(Gating):
    reads = (aten.relu.default,)
    title = "ReLU"

    def kind(self, site: Site) -> Rectifier:
        return Rectifier()


class LeakyReLU(Gating):
    reads = (aten.leaky_relu.default,)
    title = "LeakyReLU"

    def kind(self, site: Site) -> Rectifier:
        return Rectifier(site.scalar("negative_slope"))


class PReLU(Gating):
    """The slope is a gate's value, not a weight of the paths: it stands in the features."""

    reads = (aten.prelu.default,)
    title = "PReLU"

    def kind(self, site: Site) -> Rectifier:
        return Rectifier(site.weight("weight").values.detach())
