"""Small matrices side by side, each with its numbers in it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from penstock.lab.report.ink import FAINT, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_product"]

BELOW, ABOVE = "#d98200", "#0072b2"


def draw_product(matrices: Mapping[str, ArrayLike], signs: Sequence[str]) -> "Figure":
    """Matrices by title, with a sign between each two, `("⊙", "=")`. Blue is above zero, orange below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.35 * len(matrices), 3.5), facecolor="white")
    axes = figure.subplots(1, len(matrices))
    figure.subplots_adjust(left=0.03, right=0.98, top=0.86, bottom=0.06, wspace=0.22)
    for ax, (title, matrix) in zip(axes, matrices.items(), strict=True):
        _draw_matrix(ax, np.asarray(matrix, dtype=np.float64))
        ax.set_title(title, fontsize=10.5, color=INK, pad=7)
    for ax, sign in zip(axes, signs, strict=False):
        ax.text(1.11, 0.5, sign, transform=ax.transAxes, fontsize=20, color=INK, ha="center", va="center")
    return figure


def _draw_matrix(ax: "Axes", matrix: NDArray[np.float64]) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("signed", [BELOW, "#ffffff", ABOVE])
    largest = float(np.abs(matrix).max()) or 1.0
    ax.imshow(matrix, cmap=shades, vmin=-largest, vmax=largest)
    for (row, column), value in np.ndenumerate(matrix):
        ink = "white" if abs(value) > 0.62 * largest else INK
        whole = float(value).is_integer()
        text = f"{value:.0f}" if whole else f"{value:.1f}".replace("-0.0", "0.0")
        ax.text(column, row, text, ha="center", va="center_baseline", color=ink, fontsize=9)
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_color(FAINT)
