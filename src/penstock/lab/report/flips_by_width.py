"""The share of gates that flip in training against width (N Section 5), both logarithmic."""

from typing import TYPE_CHECKING

import numpy as np

from penstock.lab.claims.claim import Evidence
from penstock.lab.report.frame import quiet
from penstock.lab.report.ink import INK, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_flips_by_width"]


def draw_flips_by_width(evidence: Evidence) -> "Figure":
    """A dot for every network; lines through the means, and 1/√w."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.6, 4.7), facecolor="white")
    ax = figure.subplots()
    widths = np.asarray(evidence["widths"], dtype=np.float64)
    ours, printed = 100 * np.asarray(evidence["share"])
    labels = (
        r"$\sqrt{2/\mathrm{fan\!-\!in}}$ before every layer: slope "
        f"{evidence['slope']:.2f} ± {evidence['slope_half_width']:.2f}",
        r"$\sqrt{2/w}$ before every layer, the first too: slope "
        f"{evidence['printed_slope']:.2f} ± {evidence['printed_slope_half_width']:.2f}",
    )
    for color, marker, share, label in zip(PALETTE, "os", (ours, printed), labels, strict=False):
        _draw_networks(ax, widths, share, color, marker, label)
    half = np.exp(np.log(ours).mean()) * np.sqrt(np.exp(np.log(widths).mean()) / widths)
    ax.plot(widths, half, color=INK, linewidth=1.2, linestyle=(0, (3, 3)), label=r"$1/\sqrt{w}$", zorder=1)
    _scale(ax, widths, evidence)
    figure.tight_layout(rect=(0, 0.02, 1, 1))
    return figure


def _draw_networks(
    ax: "Axes", widths: np.ndarray, share: np.ndarray, color: str, marker: str, label: str
) -> None:
    ax.scatter(
        np.repeat(widths, share.shape[1]),
        share.ravel(),
        s=18,
        marker=marker,
        color=color,
        alpha=0.45,
        linewidth=0,
    )
    ax.plot(
        widths, np.exp(np.log(share).mean(axis=1)), color=color, marker=marker, markersize=5, linewidth=1.4,
        label=label, zorder=3,
    )  # fmt: skip


def _scale(ax: "Axes", widths: np.ndarray, evidence: Evidence) -> None:
    from matplotlib.ticker import FixedLocator, NullFormatter, ScalarFormatter

    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.xaxis.set_major_locator(FixedLocator(list(widths)))
    ax.yaxis.set_major_locator(FixedLocator([0.5, 1, 1.5, 2, 3, 4, 6, 8, 10, 15, 20, 30, 50]))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(ScalarFormatter())
        axis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("width w of the hidden layers")
    ax.set_ylabel("gates that flipped in training, %")
    ax.set_title(
        f"{evidence['data']}, d = {evidence['layers']}, {evidence['share'].shape[2]} networks of each width",
        fontsize=10,
        color=INK,
    )
    quiet(ax)
    ax.legend(frameon=False, fontsize=9, labelcolor=INK, loc="lower left")
