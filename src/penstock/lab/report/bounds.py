"""A bound against what it bounds: what is above the line breaks the bound."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from penstock.lab.report.frame import quiet
from penstock.lab.report.ink import INK, PALETTE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_bound"]


def draw_bound(bounds: ArrayLike, values: ArrayLike, *, bound: str, value: str, what: str) -> "Figure":
    """A dot for every case (`what` says of what), `bounds` to the right and `values` upwards.

    The axes are logarithmic where the numbers range over more than a factor of a thousand.
    """
    from matplotlib.figure import Figure

    right, up = np.asarray(bounds, dtype=np.float64), np.asarray(values, dtype=np.float64)
    figure = Figure(figsize=(5.6, 4.6), facecolor="white")
    ax = figure.subplots()
    every = np.concatenate([right, up])
    least, largest = every[every > 0].min(initial=np.inf), every.max(initial=0.0) or 1.0
    wide = largest > 1000 * least
    ends = np.array([least / 2, largest * 2] if wide else [0.0, largest * 1.08])
    ax.fill_between(ends, ends, [ends[1]] * 2, color=PALETTE[1], alpha=0.12, linewidth=0)
    ax.plot(ends, ends, color=PALETTE[1], linewidth=1.4)
    ax.scatter(right, up, s=26, color=PALETTE[0], alpha=0.75, linewidth=0, zorder=3)
    ax.text(0.03, 0.96, "above the bound", transform=ax.transAxes, color="#a86500", fontsize=10, va="top")
    ax.text(0.97, 0.04, f"a dot: {what}", transform=ax.transAxes, color=INK, fontsize=10, ha="right")
    if wide:
        ax.set_xscale("log")
        ax.set_yscale("log")
    ax.set_xlim(*ends)
    ax.set_ylim(*ends)
    ax.set_xlabel(bound, fontsize=11)
    ax.set_ylabel(value, fontsize=11)
    quiet(ax)
    figure.tight_layout()
    return figure
