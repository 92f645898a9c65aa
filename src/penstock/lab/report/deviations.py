"""How far two computations of one thing are apart, case by case, in rows of one kind each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from penstock.lab.report.ink import FAINT, INK, PALETTE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_deviations"]


def draw_deviations(
    names: Sequence[str], deviations: ArrayLike, allowed: float, meaning: str, *, dtypes: Sequence[str] = ("float64", "float32")
) -> "Figure":
    """A dot for every case, `deviations` with a row for every name; dtypes take turns along a row."""
    from matplotlib.figure import Figure

    rows = np.asarray(deviations, dtype=np.float64)
    figure = Figure(figsize=(8, 1.3 + 0.36 * len(names)), facecolor="white")
    ax = figure.subplots()
    # a deviation of exactly zero has its place on a logarithmic axis too
    least = 0.5 * min(float(rows[rows > 0].min()) if (rows > 0).any() else 0.01, 0.02)
    for turn, dtype in enumerate(dtypes):
        shown = np.maximum(rows[:, turn :: len(dtypes)], least)
        height = np.broadcast_to(np.arange(len(names))[:, None] + 0.24 * (turn - (len(dtypes) - 1) / 2), shown.shape)
        ax.scatter(shown, height, s=26, color=PALETTE[turn], label=dtype, alpha=0.8, linewidth=0)
    ax.axvline(allowed, color=INK, linewidth=1, linestyle=(0, (4, 3)))
    ax.annotate("allowed", (allowed, -0.62), (-4, 0), textcoords="offset points", ha="right", va="center", fontsize=9, color=INK)
    ax.set_xscale("log")
    ax.set_xlim(least / 1.6, allowed * 4)
    ax.set_ylim(len(names) - 0.4, -1.0)
    ax.set_yticks(range(len(names)), names)
    ax.set_xlabel(meaning, color=INK)
    ax.tick_params(which="both", colors=INK, length=0)
    ax.grid(axis="x", color=FAINT, linewidth=0.5)
    ax.set_axisbelow(True)
    for spine in ax.spines.values():
        spine.set_visible(False)
    figure.legend(*ax.get_legend_handles_labels(), loc="upper right", ncols=len(dtypes), frameon=False, labelcolor=INK, fontsize=9)
    figure.tight_layout(rect=(0, 0, 1, 0.94))
    return figure
