"""Intervals from a few runs: differences of pairs, ratios of means and slopes, by Student's t.

With five runs 1.96 standard errors are too few: an interval of 95 % takes 2.78.
"""

from typing import NamedTuple

from jaxtyping import Float
from scipy.stats import t as student
from torch import Tensor

__all__ = ["Interval", "mean_of", "ratio_of", "slope_of"]


class Interval(NamedTuple):
    """An estimate, and how far it may be off on either side."""

    center: float
    half_width: float

    @property
    def low(self) -> float:
        return self.center - self.half_width

    @property
    def high(self) -> float:
        return self.center + self.half_width


def mean_of(values: Float[Tensor, " runs"], confidence: float = 0.95) -> Interval:
    """Of runs that are independent of each other, such as the differences of pairs."""
    error = float(values.std()) / len(values) ** 0.5
    return Interval(float(values.mean()), float(student.ppf((1 + confidence) / 2, len(values) - 1)) * error)


def ratio_of(
    parts: Float[Tensor, " runs"], wholes: Float[Tensor, " runs"], confidence: float = 0.95
) -> Interval:
    """Σ parts / Σ wholes, of pairs. To first order its error is that of the mean of `parts - ratio·wholes`
    over the mean whole, which is meant to be far from zero.
    """
    ratio = float(parts.sum() / wholes.sum())
    rest = mean_of(parts - ratio * wholes, confidence)
    return Interval(ratio, rest.half_width / abs(float(wholes.mean())))


def slope_of(x: Float[Tensor, " points"], y: Float[Tensor, " points"], confidence: float = 0.95) -> Interval:
    """The slope of the line of least squares, with the interval that its residuals give."""
    right, up = x - x.mean(), y - y.mean()
    slope = float((right * up).sum() / right.square().sum())
    variance = float((up - slope * right).square().sum()) / (len(x) - 2)
    times = float(student.ppf((1 + confidence) / 2, len(x) - 2))
    return Interval(slope, times * (variance / float(right.square().sum())) ** 0.5)
