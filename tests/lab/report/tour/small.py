"""The tour's training on digits, so small that it takes a second."""

from penstock.lab.report.tour.regimes.training import Size

__all__ = ["SMALL"]

SMALL = Size(width=12, epochs=2, seeds=(0, 1), units=6, of_each_class=2)
