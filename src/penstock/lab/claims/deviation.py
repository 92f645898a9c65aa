"""How far two computations of one thing are apart over many cases, counted in roundings.

One rounding is the dtype's ε times the size of the numbers that were added up, so a single bound serves every dtype and
every network. What is wrong by a formula is wrong by 10⁵ roundings and more in float32, 10¹³ in float64.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["ALLOWED", "roundings", "size_of_sum"]

ALLOWED = 500
"""The roundings that sums of a few thousand terms may differ by."""


def roundings(found: "Tensor", expected: "Tensor", size: "Tensor | None" = None) -> float:
    """The largest deviation, in roundings of the coarser dtype; `size` where what was added up is larger than the sum."""
    import torch

    size = expected.abs().max() if size is None else size
    epsilon = max(torch.finfo(found.dtype).eps, torch.finfo(expected.dtype).eps)
    return float((found.double() - expected.double()).abs().max() / (epsilon * size.double().clamp_min(1e-300)))


def size_of_sum(terms: "Tensor", factors: "Tensor") -> "Tensor":
    """The largest Σ |term| |factor|, which the rounding of ⟨term, factor⟩ is proportional to."""
    return (terms.abs() @ factors.abs()).max()
