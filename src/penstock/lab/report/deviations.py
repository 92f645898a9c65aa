"""How far two computations of one thing are apart, case by case, in rows of one kind each."""

from typing import TYPE_CHECKING

import numpy as np

from penstock.lab.claims.claim import Evidence
from penstock.lab.report.frame import quiet
from penstock.lab.report.ink import INK, PALETTE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_deviations"]


def draw_deviations(evidence: Evidence, allowed: int, meaning: str) -> "Figure":
    """A dot for every case: the evidence of a `Deviations`."""
    from matplotlib.figure import Figure

    names = evidence["kinds"].split("; ")
    off_by = {name[7:]: np.asarray(rows) for name, rows in evidence.items() if name.startswith("off_by_")}
    every = np.concatenate([rows.ravel() for rows in off_by.values()])
    # a deviation of exactly zero has its place on a logarithmic axis too
    least = 0.5 * min(every[every > 0].min(initial=0.02), 0.02)
    figure = Figure(figsize=(8, 1.3 + 0.36 * len(names)), facecolor="white")
    ax = figure.subplots()
    for turn, (dtype, rows) in enumerate(off_by.items()):
        height = np.arange(len(names))[:, None] + 0.24 * (turn - (len(off_by) - 1) / 2) + np.zeros_like(rows)
        ax.scatter(
            np.maximum(rows, least), height, s=26, color=PALETTE[turn], label=dtype, alpha=0.75, linewidth=0
        )
    ax.axvline(allowed, color=INK, linewidth=1, linestyle=(0, (4, 3)))
    ax.annotate(
        "allowed",
        (allowed, -0.62),
        (-4, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize=9,
        color=INK,
    )
    ax.set_xscale("log")
    ax.set_xlim(least / 1.6, allowed * 4)
    ax.set_ylim(len(names) - 0.4, -1.0)
    ax.set_yticks(range(len(names)), names)
    ax.set_xlabel(meaning)
    quiet(ax)
    ax.grid(visible=False, axis="y")
    ax.spines[:].set_visible(False)
    figure.legend(
        *ax.get_legend_handles_labels(),
        loc="upper right",
        ncols=len(off_by),
        frameon=False,
        labelcolor=INK,
        fontsize=9,
    )
    figure.tight_layout(rect=(0, 0, 1, 0.94))
    return figure
