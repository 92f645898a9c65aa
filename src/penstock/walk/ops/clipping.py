"""ReLU6, hardtanh, clamp, threshold: open between two ends, beyond which the unit adds what it is held at."""

import math
from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from penstock.gates.kind import Kind
from penstock.gates.kinds import Clipped, Rectifier
from penstock.walk.edges import Edges
from penstock.walk.ops.gating import Gating
from penstock.walk.site import Site

__all__ = ["Clamp", "Clipping", "Hardtanh", "Threshold"]

aten = torch.ops.aten


class Clipping(Gating):
    """Beside the paths that pass its gate, one starts at every unit, from an input of 1.

    Its gate is what the unit adds; for ReLU6 that is 6 · [q ≥ 6].
    """

    def edges(self, site: Site) -> Iterator[Edges]:
        yield from super().edges(site)
        if self.adds(site):
            yield Edges(site.outputs, None, gate=site.outputs + site.outputs.numel())

    def gates(self, site: Site, q: Float[Tensor, "*shape"], n: int) -> Float[Tensor, "n gates"]:
        factor = super().gates(site, q, n)
        if not self.adds(site):
            return factor
        kind = self.kind(site)
        return torch.cat([factor, kind.apply(torch.zeros_like(q), kind.read(q)).reshape(n, -1)], 1)

    def adds(self, site: Site) -> bool:
        return isinstance(self.kind(site), Clipped)


class Hardtanh(Clipping):
    reads = (aten.hardtanh.default, aten.relu6.default)
    title = "ReLU6 and hardtanh"

    def kind(self, site: Site) -> Kind:
        if site.step.target is aten.relu6.default:
            return Clipped()
        return Clipped(site.scalar("min_val"), site.scalar("max_val"))


class Clamp(Clipping):
    """From below at 0 it is a ReLU, which adds nothing."""

    reads = (aten.clamp.default, aten.clip.default, aten.clamp_min.default, aten.clamp_max.default)
    title = "clamp"

    def kind(self, site: Site) -> Kind:
        low, high = (site.step.arguments.get(end) for end in ("min", "max"))
        if low == 0 and high is None:
            return Rectifier()
        return Clipped(
            -math.inf if low is None else site.scalar("min"), math.inf if high is None else site.scalar("max")
        )


class Threshold(Clipping):
    """Where what it puts below its threshold is the threshold itself, it is a clamp from below."""

    reads = (aten.threshold.default,)
    title = "threshold"

    def kind(self, site: Site) -> Kind:
        threshold, value = site.scalar("threshold"), site.scalar("value")
        if threshold != value:
            raise site.refusal(
                f"jumps from {value:g} to {threshold:g} at its threshold, and accepted is one that does not; "
                "write it as x.clamp(min=…)"
            )
        return Rectifier() if threshold == 0 else Clipped(threshold, math.inf)
