"""Sums, differences and means: of signals with each other, with something held, and over dimensions."""

import torch
from jaxtyping import Float64
from torch import Tensor

from penstock.paths.onepass.applied import Applied, constant

__all__ = ["RULES"]


def _added(applied: Applied) -> Float64[Tensor, "..."]:
    """`self ± alpha · other`. A signal's paths pass on; something held starts one at every entry."""
    alpha = applied.get("alpha")
    added = applied.summand(applied.term("other"), 1.0 if alpha is None else float(alpha))
    return applied.measure.numbers.plus(applied.summand(applied.term("self")), added)


def _added_reversed(applied: Applied) -> Float64[Tensor, "..."]:
    """`other - alpha · self`."""
    added = applied.summand(applied.term("self"), float(applied["alpha"]))
    return applied.measure.numbers.plus(applied.summand(applied.term("other")), added)


def _sum(applied: Applied) -> Float64[Tensor, "..."]:
    """Every entry passes on to the sum."""
    dims, keepdim = applied.get("dim"), bool(applied.get("keepdim"))
    dims = [dims] if isinstance(dims, int) else dims

    def map(plain: Tensor) -> Tensor:
        return plain.sum(dims, keepdim=keepdim) if dims else _over_all(plain, keepdim)

    return applied.measure.numbers.through(applied.shadow("self"), map)


def _over_all(plain: Tensor, keepdim: bool) -> Tensor:
    return plain.sum(list(range(plain.ndim)), keepdim=keepdim)


def _mean(applied: Applied) -> Float64[Tensor, "..."]:
    """As a sum, with the constant weight 1/k."""
    made = _sum(applied)
    share = made.numel() / max(1, applied.shadow("self").numel())
    return applied.measure.scaled(made, constant(share))


def _negated(applied: Applied) -> Float64[Tensor, "..."]:
    """A constant weight of -1."""
    return applied.shadow("self")


def _folded(applied: Applied) -> Float64[Tensor, "..."]:
    """Patches added up where they overlap."""
    where = [applied[name] for name in ("output_size", "kernel_size", "dilation", "padding", "stride")]
    return applied.measure.numbers.through(
        applied.shadow("self"), lambda plain: torch.ops.aten.col2im(plain, *where)
    )


RULES = {
    "add": _added,
    "sub": _added,
    "rsub": _added_reversed,
    "sum": _sum,
    "mean": _mean,
    "neg": _negated,
    "col2im": _folded,
}
