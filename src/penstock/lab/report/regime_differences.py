"""Differences between regimes of N Table 2, run by run, with intervals and the paper's own differences."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from penstock.lab.claims.claim import Evidence
from penstock.lab.claims.table_2 import REGIMES, ROWS
from penstock.lab.report.frame import quiet
from penstock.lab.report.ink import FAINT, INK, PALETTE
from penstock.lab.report.regimes import shown, spelt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_differences"]


def draw_differences(evidence: Evidence, pairs: Mapping[str, tuple[str, str]], alike: float) -> "Figure":
    """A panel for each row of the table, a line in it for each pair of regimes."""
    from matplotlib.figure import Figure

    rows = evidence["rows"].split("; ")
    figure = Figure(figsize=(8.2, 1.0 + 2.9 * len(rows)), facecolor="white")
    panels = figure.subplots(len(rows), 1, squeeze=False)[:, 0]
    for place, (ax, name) in enumerate(zip(panels, rows, strict=True)):
        _draw_row(ax, evidence, place, pairs, alike)
        data = evidence["data"].split("; ")[place]
        row = ROWS[name]
        ax.set_title(
            f"{row.title}: here on {spelt(data)}, in the paper on {spelt(row.data)}",
            fontsize=10,
            color=INK,
            loc="left",
            pad=24,
        )
    panels[-1].set_xlabel("difference of best test accuracies, points")
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    return figure


def _draw_row(
    ax: "Axes", evidence: Evidence, place: int, pairs: Mapping[str, tuple[str, str]], alike: float
) -> None:
    printed = dict(zip(REGIMES, ROWS[evidence["rows"].split("; ")[place]].printed, strict=True))
    ax.axvline(0, color=INK, linewidth=1, zorder=1)
    ax.fill_betweenx(
        [-0.42, 0.42], -alike, alike, color=FAINT, alpha=0.55, linewidth=0, zorder=0,
        label=f"alike: ±{alike} points",
    )  # fmt: skip
    for height, (name, (one, other)) in enumerate(pairs.items()):
        first = height == 0
        runs = np.asarray(evidence[f"{name}_differences"][place])
        around = float(evidence[f"{name}_half_widths" + ("_of_90" if name == "di" else "")][place])
        ax.scatter(
            runs, np.full(len(runs), height - 0.17), s=18, color=PALETTE[0], alpha=0.5, linewidth=0,
            label="a pair of runs" if first else None,
        )  # fmt: skip
        ax.errorbar(
            float(evidence[f"{name}_means"][place]), height, xerr=around, fmt="o", markersize=5, capsize=3,
            color=PALETTE[0], elinewidth=1.6, label="mean, interval" if first else None,
        )  # fmt: skip
        ax.scatter(
            printed[one] - printed[other], height + 0.2, marker="D", s=30, facecolor="white", edgecolor=INK,
            zorder=3, label="the paper's means" if first else None,
        )  # fmt: skip
    ax.set_yticks(range(len(pairs)), [_told(name, *pair) for name, pair in pairs.items()])
    ax.set_ylim(len(pairs) - 0.45, -0.55)
    quiet(ax)
    ax.grid(visible=False, axis="y")
    ax.spines["left"].set_visible(False)
    ax.legend(
        loc="lower right", bbox_to_anchor=(1, 0.99), ncols=4, frameon=False, fontsize=8.5, labelcolor=INK
    )


def _told(name: str, one: str, other: str) -> str:
    return f"{shown(one)} − {shown(other)} ({90 if name == 'di' else 95} %)"
