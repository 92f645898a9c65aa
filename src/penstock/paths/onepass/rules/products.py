"""Matrix products of a signal with something held, on either side."""

import torch
from jaxtyping import Float64
from torch import Tensor

from penstock.paths.onepass.applied import Applied, NotAffine, Signal

__all__ = ["RULES"]


def _product(applied: Applied, left: str, right: str) -> Float64[Tensor, "..."]:
    """`Σ_k left[…, i, k] · right[…, k, j]`. In counting, one row or column stands for all of what is held."""
    shadow, held, signal_first = applied.factors(left, right)
    matrix = held.values.ndim > 1
    weight = applied.measure.weight(held, (-1 if signal_first else -2) if matrix else None)
    factor = weight.values
    through = applied.measure.numbers.through
    if signal_first:
        made = through(shadow, lambda plain: torch.matmul(plain, factor), weight.log)
        return made.expand(*made.shape[:-1], held.values.shape[-1]) if matrix else made
    made = through(shadow, lambda plain: torch.matmul(factor, plain), weight.log)
    if not matrix:
        return made
    row = -2 if shadow.ndim > 1 else -1
    return made.expand([*made.shape[:row], held.values.shape[-2], *made.shape[made.ndim + row + 1 :]])


def _added_product(left: str, right: str):
    def rule(applied: Applied) -> Float64[Tensor, "..."]:
        """`beta · self + alpha · left @ right`."""
        alpha, beta = float(applied["alpha"]), float(applied["beta"])
        added = applied.summand(applied.term("self"), beta)
        if not isinstance(applied.term(left), Signal) and not isinstance(applied.term(right), Signal):
            raise NotAffine("adds a signal to a product of what is held; write the two one after the other")
        product = applied.summand(Signal(_product(applied, left, right)), alpha)
        return applied.measure.numbers.plus(added, product)

    return rule


def _linear(applied: Applied) -> Float64[Tensor, "..."]:
    """`x Wᵀ + b`, as it arrives in inference mode."""
    weight = applied.held("weight")
    factor = applied.measure.weight(weight, -2)
    made = applied.measure.numbers.through(
        applied.shadow("input"), lambda plain: torch.matmul(plain, factor.values.T), factor.log
    )
    made = made.expand(*made.shape[:-1], len(weight.values))
    if applied["bias"] is None:
        return made
    return applied.measure.numbers.plus(made, applied.summand(applied.held("bias")))


RULES = {
    "mm": lambda applied: _product(applied, "self", "mat2"),
    "bmm": lambda applied: _product(applied, "self", "mat2"),
    "mv": lambda applied: _product(applied, "self", "vec"),
    "dot": lambda applied: _product(applied, "self", "tensor"),
    "matmul": lambda applied: _product(applied, "self", "other"),
    "addmm": _added_product("mat1", "mat2"),
    "addmv": _added_product("mat", "vec"),
    "baddbmm": _added_product("batch1", "batch2"),
    "linear": _linear,
}
