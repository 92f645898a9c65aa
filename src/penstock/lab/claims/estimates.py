"""Means that are estimated from independent batches, with how sure they are."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

__all__ = ["SURE", "Estimate"]

SURE = 4.0
"""Standard errors beyond which a formula is rejected: of a hundred true ones, none is, but for skewness."""

_NORMAL_95 = 1.96


@dataclass(frozen=True)
class Estimate:
    """One mean or many, each with the standard error of its estimate."""

    mean: Float[Tensor, "*quantities"]
    error: Float[Tensor, "*quantities"]

    @classmethod
    def of(cls, batches: Float[Tensor, "batches *quantities"]) -> "Estimate":
        """From one number a batch; batches are independent, what is in one need not be."""
        return cls(batches.mean(dim=0), batches.std(dim=0) / len(batches) ** 0.5)

    @property
    def half_width(self) -> Float[Tensor, "*quantities"]:
        """Of the 95 % interval."""
        return _NORMAL_95 * self.error

    def off_by(self, formula: Float[Tensor, "#*quantities"] | float | int) -> Float[Tensor, "*quantities"]:
        """How far what a formula says is from the estimate, in standard errors."""
        return (self.mean - formula).abs() / self.error
