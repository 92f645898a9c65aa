"""Products and quotients, entry by entry, of a signal with something held."""

import torch
from jaxtyping import Float64
from torch import Tensor

from penstock.paths.onepass.applied import Applied, NotAffine
from penstock.paths.onepass.measures import Held

__all__ = ["RULES"]


def _multiplied(applied: Applied) -> Float64[Tensor, "..."]:
    """Every entry passes the weight that it is multiplied by."""
    shadow, held, _ = applied.factors("self", "other")
    return applied.measure.scaled(shadow, held)


def _divided(applied: Applied) -> Float64[Tensor, "..."]:
    """Every entry passes the weight 1/divisor."""
    divisor = applied.term("other")
    if not isinstance(divisor, Held):
        raise NotAffine("divides by a signal, which is not affine in the input; divide by something held")
    if applied.get("rounding_mode") is not None:
        raise NotAffine("rounds, which is not affine in the input")
    inverse = Held(divisor.values.to(torch.float64).reciprocal(), divisor.learnt)
    return applied.measure.scaled(applied.shadow("self"), inverse)


RULES = {"mul": _multiplied, "div": _divided}
