"""The share of what learnt gates gain that is in the gates alone (N Section 6.2, item 3), row by row."""

from typing import TYPE_CHECKING

import numpy as np

from penstock.lab.claims.claim import Evidence
from penstock.lab.claims.table_2 import ROWS
from penstock.lab.report.frame import quiet
from penstock.lab.report.ink import FAINT, INK, PALETTE
from penstock.lab.report.regimes import spelt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_shares"]

# Beyond this nothing is told apart any more; a run whose gain is near zero has a share without bounds.
_AT_MOST = 1.5


def draw_shares(evidence: Evidence) -> "Figure":
    """A line for each row: the share over all runs with its interval, each run's own, and the paper's."""
    from matplotlib.figure import Figure

    rows, data = (evidence[name].split("; ") for name in ("rows", "data"))
    figure = Figure(figsize=(7.4, 1.7 + 0.75 * len(rows)), facecolor="white")
    ax = figure.subplots()
    for end, says in ((0, "as random gates"), (1, "as ReLU")):
        ax.axvline(end, color=FAINT, linewidth=1.2, zorder=1)
        ax.annotate(
            says, (end, 1), (0, 3), xycoords=("data", "axes fraction"), textcoords="offset points",
            ha="center", fontsize=8.5, color=INK,
        )  # fmt: skip
    own = np.clip(np.asarray(evidence["kept"] / evidence["gained"]), -_AT_MOST, _AT_MOST)
    for height in range(len(rows)):
        label = height == 0
        ax.scatter(
            own[height], np.full(own.shape[1], height - 0.16), s=18, color=PALETTE[0], alpha=0.5, linewidth=0,
            label="a run" if label else None,
        )  # fmt: skip
        ax.errorbar(
            float(evidence["share"][height]), height, xerr=float(evidence["half_width"][height]), fmt="o",
            markersize=6, capsize=3, color=PALETTE[0], elinewidth=1.6,
            label="all runs, 95 % interval" if label else None,
        )  # fmt: skip
        ax.scatter(
            float(evidence["printed"][height]), height + 0.2, marker="D", s=34, facecolor="white",
            edgecolor=INK, zorder=3, label="the paper's table" if label else None,
        )  # fmt: skip
    titles = [f"{ROWS[name].title}\n(here {spelt(on)})" for name, on in zip(rows, data, strict=True)]
    ax.set_yticks(range(len(rows)), titles)
    ax.set_ylim(len(rows) - 0.45, -0.55)
    ax.set_xlabel("(FLNPF − FRNPF-II) / (ReLU − FRNPF-II), of best test accuracies")
    quiet(ax)
    ax.grid(visible=False, axis="y")
    ax.spines["left"].set_visible(False)
    ax.set_xlim(min(-0.1, own.min() - 0.1), max(1.15, own.max() + 0.1))
    figure.legend(
        *ax.get_legend_handles_labels(),
        loc="upper center",
        ncols=3,
        frameon=False,
        fontsize=9,
        labelcolor=INK,
    )
    figure.tight_layout(rect=(0, 0.03, 1, 0.9))
    return figure
