"""BatchNorm in evaluation mode: `y = γ/√(σ²+ε) · x + (β - μγ/√(σ²+ε))`, for each channel."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from penstock.walk.edges import Edges
from penstock.walk.operation import Operation
from penstock.walk.site import Site, Weight
from penstock.walk.step import Ref

__all__ = ["BatchNorm", "scale_and_shift"]

aten = torch.ops.aten


class BatchNorm(Operation):
    """Every entry of a channel passes its scale, a weight; its shift, a bias, starts a path at each."""

    reads = (aten._native_batch_norm_legit_no_training.default,)
    title = "BatchNorm in evaluation mode"

    def edges(self, site: Site) -> Iterator[Edges]:
        scale, shift = scale_and_shift(site)
        channel = torch.arange(len(scale)).reshape(-1, *(1 for _ in site.shape[2:]))
        yield Edges(site.outputs, site.nodes("input"), _weight(site, scale, channel, "scale", ("weight",)))
        yield Edges(site.outputs, None, _weight(site, shift, channel, "shift", ("weight", "bias")))


def scale_and_shift(site: Site) -> tuple[Float[Tensor, " channels"], Float[Tensor, " channels"]]:
    """What multiplies a channel, and what is added to it."""
    mean, variance = site.weight("running_mean").values, site.weight("running_var").values
    gain, bias = site.tensor("weight"), site.tensor("bias")
    scale = (variance + site.scalar("eps")).rsqrt()
    scale = scale if gain is None else gain * scale
    shift = -mean * scale
    return scale, shift if bias is None else bias + shift


def _weight(site: Site, values: Tensor, channel: Tensor, name: str, reached_by: tuple[str, ...]) -> Weight:
    """Named after the module whose parameters reach it; constants where none does."""
    for argument in reached_by:
        given = site[argument]
        if isinstance(given, Ref) and given.name in site.learnt:
            prefix = site.names.get(given.name, given.name).rpartition(".")[0]
            return Weight(f"{prefix}.{name}", values, channel)
    return Weight("", values, channel, fixed=True)
