"""BatchNorm in evaluation mode: `y = γ/√(σ²+ε) · x + (β - μγ/√(σ²+ε))`, for each channel."""

from jaxtyping import Float64
from torch import Tensor

from penstock.paths.onepass.applied import Applied, NotAffine
from penstock.paths.onepass.measures import Held

__all__ = ["RULES"]


def _batch_norm(applied: Applied) -> Float64[Tensor, "n channels *size"]:
    """Every entry of a channel passes its scale, a weight; its shift, a bias, starts a path at each."""
    if applied.get("training"):
        raise NotAffine("normalizes by statistics of the input, which is not affine in it")
    shadow = applied.shadow("input")
    mean, variance = (applied.held(name).values.double() for name in ("running_mean", "running_var"))
    epsilon = applied["eps"] if applied.get("eps") is not None else applied["epsilon"]
    scale = (variance + epsilon).rsqrt()
    if applied["weight"] is not None:
        scale = applied.held("weight").values.double() * scale
    shift = -mean * scale
    if applied["bias"] is not None:
        shift = applied.held("bias").values.double() + shift
    channel = (-1, *(1 for _ in shadow.shape[2:]))
    scaled = applied.measure.scaled(shadow, Held(scale.reshape(channel), learnt=True))
    return applied.measure.numbers.plus(
        scaled, applied.measure.term(Held(shift.reshape(channel), learnt=True))
    )


RULES = dict.fromkeys(
    (
        "native_batch_norm",
        "_native_batch_norm_legit",
        "_native_batch_norm_legit_no_training",
        "_batch_norm_no_update",
        "cudnn_batch_norm",
        "miopen_batch_norm",
    ),
    _batch_norm,
)
