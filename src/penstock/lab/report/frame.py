"""Axes that step back behind what they hold."""

from typing import TYPE_CHECKING

from penstock.lab.report.ink import FAINT, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["quiet"]


def quiet(ax: "Axes") -> None:
    """Faint lines on the left and below, a faint grid behind everything, no ticks."""
    ax.tick_params(which="both", colors=INK, length=0)
    ax.xaxis.label.set_color(INK)
    ax.yaxis.label.set_color(INK)
    ax.grid(color=FAINT, linewidth=0.4)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FAINT)
