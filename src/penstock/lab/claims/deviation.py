"""How far two computations of one thing are apart over many cases, counted in roundings.

One rounding is the dtype's ε times the size of the numbers that were added up, so a single bound serves every
dtype and every network. What is wrong by a formula is wrong by 10⁵ roundings and more in float32, 10¹³ in
float64.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["ALLOWED", "Deviations", "roundings", "size_of_sum"]

ALLOWED = 100
"""The roundings that sums of a few thousand terms may differ by."""


def roundings(found: "Tensor", expected: "Tensor", size: "Tensor | None" = None) -> float:
    """The largest deviation, in roundings of the coarser dtype; `size` is that of the terms."""
    import torch

    size = expected.abs().max() if size is None else size
    epsilon = max(torch.finfo(found.dtype).eps, torch.finfo(expected.dtype).eps)
    return float(
        (found.double() - expected.double()).abs().max() / (epsilon * size.double().clamp_min(1e-300))
    )


def size_of_sum(terms: "Tensor", factors: "Tensor") -> "Tensor":
    """The largest Σ |term| |factor|, which the rounding of ⟨term, factor⟩ is proportional to."""
    return (terms.abs() @ factors.abs()).max()


class Deviations:
    """The roundings of many cases, by dtype and by kind, as evidence."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, list[float]]] = {}

    def add(self, kind: str, found: "Tensor", expected: "Tensor", size: "Tensor | None" = None) -> None:
        """One case of a kind; `found` says the dtype."""
        dtype = str(found.dtype).removeprefix("torch.")
        self.rows.setdefault(dtype, {}).setdefault(kind, []).append(roundings(found, expected, size))

    def largest(self, kind: str) -> float:
        """The worst case of a kind, in any dtype."""
        return max(max(kinds[kind]) for kinds in self.rows.values())

    def evidence(self) -> dict[str, Any]:
        """The kinds, the worst case, how many there are, and `off_by_float64` and its like: kinds × cases."""
        import torch

        kinds = list(next(iter(self.rows.values())))
        off_by = {
            f"off_by_{dtype}": torch.tensor([rows[kind] for kind in kinds], dtype=torch.float64)
            for dtype, rows in self.rows.items()
        }
        return {
            "kinds": "; ".join(kinds),
            "largest_deviation": max(self.largest(kind) for kind in kinds),
            "networks": sum(rows.numel() for rows in off_by.values()),
            **off_by,
        }
