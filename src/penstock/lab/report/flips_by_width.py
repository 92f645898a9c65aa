"""The share of gates that flip in training against width (N Section 5), both logarithmic."""

from typing import TYPE_CHECKING

import numpy as np

from penstock.lab.claims.claim import Evidence
from penstock.lab.report.frame import quiet
from penstock.lab.report.ink import INK, PALETTE
from penstock.lab.report.regimes import spelt

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
        "√(2/fan-in) before every layer: slope " + _signed(evidence["slope"], evidence["slope_half_width"]),
        "1/√w before the first layer too: slope "
        + _signed(evidence["printed_slope"], evidence["printed_slope_half_width"]),
    )
    for color, marker, share, label in zip(PALETTE, "os", (ours, printed), labels, strict=False):
        _draw_networks(ax, widths, share, color, marker, label)
    half = np.exp(np.log(ours).mean()) * np.sqrt(np.exp(np.log(widths).mean()) / widths)
    ax.plot(widths, half, color=INK, linewidth=1.2, linestyle=(0, (3, 3)), label="1/√w", zorder=1)
    _scale(ax, widths, evidence)
    figure.tight_layout(rect=(0, 0.02, 1, 1))
    return figure


def _signed(slope: float, half_width: float) -> str:
    return f"{slope:.2f} ± {half_width:.2f}".replace("-", "−")


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
    from matplotlib.ticker import FixedLocator, NullFormatter, StrMethodFormatter

    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.xaxis.set_major_locator(FixedLocator(list(widths)))
    ax.yaxis.set_major_locator(FixedLocator([0.5, 1, 1.5, 2, 3, 4, 6, 8, 10, 15, 20, 30, 50]))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("width w of the hidden layers")
    ax.set_ylabel("gates that flipped in training, %")
    ax.set_title(
        f"{spelt(evidence['data'])}, d = {evidence['layers']}, {evidence['share'].shape[2]} networks of each "
        "width",
        fontsize=10,
        color=INK,
    )
    quiet(ax)
    ax.legend(frameon=False, fontsize=9, labelcolor=INK, loc="lower left")
