"""Training and test accuracy over the epochs, network beside network, as D Figure 7 draws them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from penstock.lab.report.frame import quiet
from penstock.lab.report.ink import INK, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_learning_curves"]


def draw_learning_curves(networks: Sequence[str], train: ArrayLike, test: ArrayLike) -> "Figure":
    """Accuracies in percent, networks × runs × epochs. Left on training examples, in full lines, right on
    test examples, dotted: the mean over the runs, in a band from the lowest run to the highest.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 4.3), facecolor="white")
    left, right = figure.subplots(1, 2)
    runs = np.asarray(test).shape[1]
    _curves(left, networks, np.asarray(train), "-")
    _curves(right, networks, np.asarray(test), (0, (1, 1)))
    left.set_title("accuracy on training examples, %", fontsize=10.5, color=INK)
    right.set_title(f"accuracy on test examples, %: mean of {runs} runs", fontsize=10.5, color=INK)
    right.legend(frameon=False, labelcolor=INK, fontsize=9.5, loc="lower right")
    figure.tight_layout(w_pad=2.5)
    return figure


def _curves(
    ax: "Axes",
    networks: Sequence[str],
    accuracies: NDArray[np.float64],
    style: str | tuple[int, tuple[int, int]],
) -> None:
    from matplotlib.ticker import MaxNLocator

    epochs = np.arange(1, accuracies.shape[2] + 1)
    for number, (name, runs) in enumerate(zip(networks, accuracies, strict=True)):
        colour = PALETTE[number % len(PALETTE)]
        ax.fill_between(epochs, runs.min(axis=0), runs.max(axis=0), color=colour, alpha=0.12, linewidth=0)
        ax.plot(epochs, runs.mean(axis=0), color=colour, linewidth=1.8, linestyle=style, label=name)
    # the first epochs climb from far below and would flatten what the rest is compared by
    settled = np.sort(accuracies[..., len(epochs) // 10 :].ravel())
    low = float(settled[len(settled) // 100])
    ax.set_ylim(max(0.0, low - 0.15 * (100 - low)), 100 + 0.05 * (100 - low))
    ax.set_xlim(0, len(epochs))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("epochs")
    quiet(ax)
