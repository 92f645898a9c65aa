"""The tangent kernel while a network learns, with the instants at which its gates flip (N Definition 3.3)."""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from penstock.lab.claims.claim import Evidence
from penstock.lab.report.ink import ACTIVE, FAINT, INK, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_instants"]

CHANGING, SILENT = "a path feature changes", "none changes"
STYLES = {CHANGING: {"color": ACTIVE, "linestyle": "-"}, SILENT: {"color": INK, "linestyle": (0, (1, 2))}}


def draw_instants(evidence: Evidence) -> "Figure":
    """Left K_t(s, s) for every input, in time; right how much K changes at every instant, against what it
    drifts.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 4.3), facecolor="white")
    curves, jumps = figure.subplots(1, 2, width_ratios=(3.4, 1))
    _draw_curves(curves, evidence)
    _draw_jumps(jumps, evidence)
    for ax in (curves, jumps):
        ax.tick_params(which="both", colors=INK, length=0)
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color(FAINT)
        ax.set_axisbelow(True)
    handles, labels = curves.get_legend_handles_labels()
    curves.legend(
        handles, labels, loc="lower left", bbox_to_anchor=(-0.02, 1), ncols=len(labels), frameon=False,
        labelcolor=INK, fontsize=9.5,
    )  # fmt: skip
    figure.tight_layout(w_pad=2)
    return figure


def _draw_curves(ax: "Axes", evidence: Evidence) -> None:
    times, kernels = np.asarray(evidence["times"]), np.asarray(evidence["kernels"])
    instants, changes = np.asarray(evidence["instants"]), np.asarray(evidence["instants_change"])
    for name, style in STYLES.items():
        for number, time in enumerate(instants[changes == (name == CHANGING)]):
            label = f"a gate flips, {name}" if number == 0 else None
            ax.axvline(time, linewidth=1.1, label=label, zorder=1, **style)
    # a jump is a jump: no line joins its two sides
    after = np.searchsorted(times, instants[changes])
    broken, at = np.insert(kernels, after, np.nan, axis=0), np.insert(times, after, np.nan)
    beside = _apart(kernels[-1], 0.045 * kernels.max())
    for example in range(kernels.shape[1]):
        colour = PALETTE[example % len(PALETTE)]
        ax.plot(at, broken[:, example], color=colour, linewidth=2, solid_capstyle="butt", zorder=2)
        ax.annotate(
            f"$s={example + 1}$", (times[-1], beside[example]), (5, 0), textcoords="offset points",
            va="center", fontsize=9, color=colour,
        )  # fmt: skip
    ax.set_xlim(0, times[-1])
    ax.set_xlabel("steps of gradient descent", color=INK)
    ax.set_ylabel("$K_t(s, s)$", color=INK)
    ax.grid(axis="y", color=FAINT, linewidth=0.4)


def _apart(heights: np.ndarray, least: float) -> np.ndarray:
    """These heights, those that are too near to the one below moved up."""
    moved = heights.copy()
    for below, above in pairwise(np.argsort(heights)):
        moved[above] = max(moved[above], moved[below] + least)
    return moved


def _draw_jumps(ax: "Axes", evidence: Evidence) -> None:
    moved, changes = np.asarray(evidence["kernel_moves"]), np.asarray(evidence["changes"])
    times_drift = moved / np.asarray(evidence["kernel_drifts"])
    for column, (name, style) in enumerate(STYLES.items()):
        chosen = times_drift[changes == (name == CHANGING)]
        # side by side, so that equal ones are seen
        beside = column + 0.5 * ((np.arange(len(chosen)) + 0.5) / len(chosen) - 0.5)
        ax.scatter(beside, chosen, s=26, color=style["color"], alpha=0.8, linewidth=0)
    ax.axhline(1, color=FAINT, linewidth=1, zorder=0)
    ax.set_yscale("log")
    ax.set_xlim(-0.6, 1.6)
    ax.set_xticks([0, 1], ["feature\nchanges", "none\nchanges"])
    ax.set_title("change of K at an instant\nover its drift (all networks)", fontsize=9.5, color=INK)
    ax.grid(axis="y", color=FAINT, linewidth=0.4)
