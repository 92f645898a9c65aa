"""Average pooling: sums over windows, each entry through the constant weight 1/k."""

import torch
from jaxtyping import Float64
from torch import Tensor

from penstock.paths.onepass.applied import Applied
from penstock.paths.onepass.measures import Held
from penstock.paths.onepass.separable import found_shares, summed

__all__ = ["RULES"]

aten = torch.ops.aten


def _average(dims: int):
    def rule(applied: Applied) -> Float64[Tensor, "..."]:
        """What k is at the border depends on padding, `ceil_mode` and `divisor_override`. It is taken from
        torch: pooling ones gives the number of entries in the window, over k."""
        shadow = applied.shadow("self")
        pool = aten.avg_pool2d if dims == 2 else aten.avg_pool3d
        where = [applied[name] for name in ("kernel_size", "stride", "padding", "ceil_mode")]

        def added(plain: Tensor) -> Tensor:
            return pool(plain, *where, True, 1)

        ones = torch.ones(1, 1, *shadow.shape[-dims:], dtype=torch.float64, device=shadow.device)
        share = pool(ones, *where, applied["count_include_pad"], applied["divisor_override"])[0, 0]
        entries = added(ones)[0, 0]
        weight = Held(torch.where(entries > 0, share / entries, 0.0))
        return applied.measure.scaled(applied.measure.numbers.through(shadow, added), weight)

    return rule


def _interpolated(name: str, dims: int):
    """What weights each dimension alone, with shares that add up to 1."""

    def rule(applied: Applied) -> Float64[Tensor, "..."]:
        shadow = applied.shadow(name)
        options = {key: value for key, value in applied.arguments.items() if key != name}
        shares = [
            share.to(shadow.device)
            for share in found_shares(
                lambda image: applied.operation(image, **options), shadow.shape[shadow.ndim - dims :]
            )
        ]
        weights = [applied.measure.weight(Held(share)) for share in shares]
        values = [
            torch.where(share != 0, weight.values, 0.0) for share, weight in zip(shares, weights, strict=True)
        ]
        return summed(applied.measure.numbers, shadow, values, [weight.log for weight in weights])

    return rule


RULES = {
    "avg_pool2d": _average(2),
    "avg_pool3d": _average(3),
    "_adaptive_avg_pool2d": _interpolated("self", 2),
    "_adaptive_avg_pool3d": _interpolated("self", 3),
    "upsample_linear1d": _interpolated("self", 1),
    "upsample_bilinear2d": _interpolated("self", 2),
    "upsample_trilinear3d": _interpolated("self", 3),
    "upsample_bicubic2d": _interpolated("self", 2),
}
