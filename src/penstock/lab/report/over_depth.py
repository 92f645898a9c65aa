"""What is measured against depth: dots with intervals, and what a formula says as lines."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from penstock.lab.report.frame import quiet
from penstock.lab.report.ink import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Dots", "Line", "Panel", "draw_over_depth"]


@dataclass(frozen=True)
class Dots:
    """Measured numbers with the half-widths of their intervals; the label stands in the legend, once."""

    depths: ArrayLike
    values: ArrayLike
    intervals: ArrayLike
    color: str
    label: str = ""
    marker: str = "o"
    hollow: bool = False
    aside: float = 0.0
    """By what share of the way to the next depth the dots are moved, so that none hides another."""


@dataclass(frozen=True)
class Line:
    """What a formula says."""

    depths: ArrayLike
    values: ArrayLike
    color: str
    label: str = ""
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    says: str
    """What is measured, above the axes."""
    marks: Sequence[Dots | Line] = field(default_factory=tuple)
    logarithmic: bool = False
    level: float | None = None
    """What all dots are said to be, as a line from end to end."""


def draw_over_depth(panels: Sequence[Panel]) -> "Figure":
    """The panels side by side, the depths of each evenly apart."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2 * len(panels), 4.3), facecolor="white")
    for ax, panel in zip(np.atleast_1d(figure.subplots(1, len(panels))), panels, strict=True):
        depths = np.unique(np.concatenate([np.ravel(mark.depths) for mark in panel.marks]))
        for mark in panel.marks:
            place = np.searchsorted(depths, np.ravel(mark.depths))
            if isinstance(mark, Dots):
                _dots(ax, place + mark.aside, mark)
            else:
                _line(ax, place, mark)
        ax.set_xticks(range(len(depths)), [f"{depth:.0f}" for depth in depths])
        _finish(ax, panel)
    figure.tight_layout()
    return figure


def _dots(ax: "Axes", places: NDArray[Any], dots: Dots) -> None:
    ax.errorbar(
        places,
        np.asarray(dots.values, dtype=np.float64),
        yerr=np.asarray(dots.intervals, dtype=np.float64),
        fmt=dots.marker,
        markersize=5,
        color=dots.color,
        markerfacecolor="white" if dots.hollow else dots.color,
        elinewidth=1.2,
        capsize=2.5,
        label=dots.label or None,
        zorder=3,
    )


def _line(ax: "Axes", places: NDArray[Any], line: Line) -> None:
    ax.plot(
        places,
        np.asarray(line.values, dtype=np.float64),
        color=line.color,
        linewidth=1.4,
        linestyle=(0, (3, 3)) if line.dashed else "-",
        label=line.label or None,
        zorder=2,
    )


def _finish(ax: "Axes", panel: Panel) -> None:
    if panel.logarithmic:
        ax.set_yscale("log")
    if panel.level is not None:
        ax.axhline(panel.level, color=INK, linewidth=1.2, zorder=1)
    ax.set_title(panel.says, fontsize=10.5, color=INK, pad=9)
    ax.set_xlabel("d, the number of weight layers", fontsize=10)
    quiet(ax)
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        ax.margins(y=0.14)
        ax.legend(handles, labels, frameon=False, fontsize=9, labelcolor=INK)
