"""Test accuracy by regime (N Table 2): every run, mean and standard deviation, beside what is printed."""

from typing import TYPE_CHECKING

import numpy as np

from penstock.lab.claims.claim import Evidence
from penstock.lab.claims.table_2 import RANDOM, REGIMES, ROWS
from penstock.lab.report.frame import quiet
from penstock.lab.report.ink import INK, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_regimes", "shown", "spelt"]

_ASIDE = 0.17
_RANDOM, _LEARNT = PALETTE[1], PALETTE[0]


def shown(regime: str) -> str:
    """A regime as the paper spells it."""
    return "ReLU" if regime == "relu" else regime.upper()


def spelt(data: str) -> str:
    """A data set as the paper spells it."""
    return data if data == "digits" else data.upper()


def draw_regimes(evidence: Evidence) -> "Figure":
    """A panel for each row: to the left of each place our runs, to the right the paper's mean and spread."""
    from matplotlib.figure import Figure

    rows = evidence["rows"].split("; ")
    figure = Figure(figsize=(0.6 + 6.2 * len(rows), 4.6), facecolor="white")
    panels = figure.subplots(1, len(rows), squeeze=False)[0]
    for place, (ax, name) in enumerate(zip(panels, rows, strict=True)):
        _draw_row(ax, name, np.asarray(evidence["test"][place]))
        epochs = int(evidence["epochs"][place].max())
        data = evidence["data"].split("; ")[place]
        runs = evidence["test"].shape[2]
        ax.set_title(
            f"{ROWS[name].title}: here {spelt(data)}, {epochs} epochs, {runs} runs; in the paper "
            f"{spelt(ROWS[name].data)}, 5 runs",
            fontsize=10,
            color=INK,
            pad=26,
        )
    panels[0].set_ylabel("best test accuracy of a run, %")
    figure.tight_layout(rect=(0, 0.02, 1, 1))
    return figure


def _draw_row(ax: "Axes", name: str, test: np.ndarray) -> None:
    printed, spread = ROWS[name].printed, ROWS[name].spread
    for place, regime in enumerate(REGIMES):
        color = _RANDOM if regime in RANDOM else _LEARNT
        runs = test[place]
        across = place - _ASIDE + 0.12 * (np.arange(len(runs)) / max(len(runs) - 1, 1) - 0.5)
        ax.scatter(across, runs, s=16, color=color, alpha=0.5, linewidth=0, zorder=2)
        ax.errorbar(
            place - _ASIDE, runs.mean(), yerr=runs.std(ddof=1), fmt="_", markersize=17, markeredgewidth=2.2,
            color=color, elinewidth=1.2, zorder=3,
        )  # fmt: skip
        ax.errorbar(
            place + _ASIDE, printed[place], yerr=spread[place], fmt="D", markersize=5.5, color=INK,
            markerfacecolor="white", elinewidth=1.2, zorder=3,
        )  # fmt: skip
        _number(ax, place - _ASIDE, runs.mean(), max(runs), color)
        _number(ax, place + _ASIDE, printed[place], printed[place] + spread[place], INK)
    ax.set_xticks(range(len(REGIMES)), [shown(regime) for regime in REGIMES])
    ax.set_xlim(-0.75, len(REGIMES) - 0.25)
    ax.margins(y=0.12)
    quiet(ax)
    ax.grid(visible=False, axis="x")
    _explain(ax)


def _number(ax: "Axes", across: float, mean: float, top: float, color: str) -> None:
    """The mean in two digits above what is drawn, where no neighbor comes in its way."""
    ax.annotate(
        f"{mean:.2f}", (across, top), (0, 7), textcoords="offset points", ha="center", fontsize=8, color=color
    )  # fmt: skip


def _explain(ax: "Axes") -> None:
    from matplotlib.lines import Line2D

    dot = {"marker": "_", "linestyle": "", "markersize": 12, "markeredgewidth": 2.2}
    ax.legend(
        handles=[
            Line2D([], [], color=_RANDOM, label="here, random gates", **dot),
            Line2D([], [], color=_LEARNT, label="here, learnt gates", **dot),
            Line2D([], [], color=INK, marker="D", markerfacecolor="white", linestyle="", label="the paper"),
        ],
        loc="lower center",
        bbox_to_anchor=(0.5, 0.995),
        ncols=3,
        frameon=False,
        fontsize=9,
        labelcolor=INK,
    )
