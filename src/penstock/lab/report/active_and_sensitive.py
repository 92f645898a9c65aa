"""D19: which gates are open for an input and which still move, over training."""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from penstock.lab.claims.claim import Evidence
from penstock.lab.report.frame import quiet
from penstock.lab.report.ink import ACTIVE, FAINT, INK, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_active_and_sensitive", "wires_of", "with_one_sensitive"]

SENSITIVE = PALETTE[0]
MOMENTS = 4
Bits = NDArray[np.bool_]


def draw_active_and_sensitive(evidence: Evidence) -> "Figure":
    """Above, one input's active and sensitive sub-networks at a few moments of a training. Below, how many
    gates and paths of either kind there are, and every gate by its value and by how far it can be moved.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 7), facecolor="white")
    above, below = figure.subfigures(2, 1, height_ratios=(1, 1.15), squeeze=False)[:, 0]
    active, sensitive = (np.asarray(evidence[name]) for name in ("is_active", "is_sensitive"))
    epochs = np.asarray(evidence["epochs"])
    moments = np.unique(np.linspace(0, len(epochs) - 1, MOMENTS).round().astype(int))
    example = _telling(active, sensitive, moments)
    for ax, moment in zip(np.atleast_1d(above.subplots(1, len(moments))), moments, strict=True):
        _subnetworks(ax, active[moment, example], sensitive[moment, example])
        ax.set_title(f"epoch {epochs[moment]}", fontsize=10, color=INK)
    gates, paths, scatter = below.subplots(1, 3, width_ratios=(1, 1, 1.3))
    _counts(gates, epochs, active.sum((2, 3)), sensitive.sum((2, 3)))
    gates.set_title("gates of an input, mean", fontsize=10, color=INK)
    _counts(paths, epochs, *_path_counts(active, sensitive))
    paths.set_title("paths from an input node, mean", fontsize=10, color=INK)
    paths.legend(frameon=False, labelcolor=INK, fontsize=9)
    _scatter(scatter, evidence)
    above.subplots_adjust(left=0.03, right=0.98, top=0.86, bottom=0.04)
    below.subplots_adjust(left=0.06, right=0.98, top=0.88, bottom=0.17, wspace=0.28)
    return figure


def with_one_sensitive(active: Bits, sensitive: Bits) -> Bits:
    """Of one input, layers × units: the paths with one sensitive gate and active ones in all other layers."""
    found = np.zeros([layer.size for layer in active], dtype=bool)
    for place in range(len(active)):
        found |= _along([sensitive[at] if at == place else layer for at, layer in enumerate(active)])
    return found


def wires_of(paths: Bits) -> list[Bits]:
    """Between two layers each, which wires some of these paths run along: this × next."""
    layers = range(paths.ndim)
    return [np.asarray(paths.any(axis=tuple(set(layers) - {low, high}))) for low, high in pairwise(layers)]


def _along(layers: list[Bits]) -> Bits:
    product = np.ones((), dtype=bool)
    for layer in layers:
        product = product[..., None] & layer
    return product


def _path_counts(active: Bits, sensitive: Bits) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Epochs × inputs."""
    a, s = active.sum(3), sensitive.sum(3)
    of_others = [np.delete(a, place, axis=2).prod(2) for place in range(a.shape[2])]
    with_one = np.stack([s[:, :, place] * others for place, others in enumerate(of_others)])
    return a.prod(2), with_one.sum(0)


def _telling(active: Bits, sensitive: Bits, moments: NDArray[np.int64]) -> int:
    """The input with the most sensitive paths at the moment at which it has fewest."""
    _, paths = _path_counts(active[moments], sensitive[moments])
    return int(paths.min(0).argmax())


def _subnetworks(ax: "Axes", active: Bits, sensitive: Bits) -> None:
    layers, width = active.shape
    heights = (width - 1) / 2 - np.arange(width)
    kinds = ((_along(list(active)), ACTIVE, 2.0), (with_one_sensitive(active, sensitive), SENSITIVE, 1.0))
    for low in range(layers - 1):
        for one in heights:
            for other in heights:
                ax.plot([low, low + 1], [one, other], color=FAINT, linewidth=0.35, zorder=1)
    for paths, colour, wide in kinds:
        for low, wires in enumerate(wires_of(paths)):
            for one, other in np.argwhere(wires):
                ends = [heights[one], heights[other]]
                ax.plot([low, low + 1], ends, color=colour, linewidth=wide, alpha=0.8, zorder=2)
    for layer in range(layers):
        for unit, y in enumerate(heights):
            fill = ACTIVE if active[layer, unit] else SENSITIVE if sensitive[layer, unit] else "white"
            edge = INK if fill == "white" else fill
            ax.scatter([layer], [y], s=60, facecolor=fill, edgecolor=edge, linewidth=0.9, zorder=3)
    ax.set_axis_off()


def _counts(
    ax: "Axes", epochs: NDArray[np.int64], active: NDArray[np.int64], sensitive: NDArray[np.int64]
) -> None:
    for counts, colour, name in ((active, ACTIVE, "active"), (sensitive, SENSITIVE, "sensitive")):
        ax.plot(epochs, counts.mean(1), color=colour, linewidth=1.8, marker="o", markersize=4, label=name)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("epochs")
    quiet(ax)


def _scatter(ax: "Axes", evidence: Evidence) -> None:
    """At the start and at the end, with the slope that no gate is above and the two thresholds."""
    gates, moved = (np.asarray(evidence[name]) for name in ("gates", "relative_sensitivity"))
    epsilon, beta, share = (float(evidence[name]) for name in ("epsilon", "beta", "share"))
    top = 1 + epsilon
    for moment, colour, name in ((0, FAINT, "start"), (-1, PALETTE[1], "end")):
        ax.scatter(gates[moment].ravel(), moved[moment].ravel(), s=3, color=colour, linewidth=0, label=name)
    g = np.linspace(0, top, 200)
    ax.plot(g, beta * g * (1 - g / top), color=INK, linewidth=1, label=r"$\beta G(1-G/(1+\epsilon))$")
    least = beta * share * top * (1 - share)
    ax.axvline(share * top, color=ACTIVE, linewidth=1.1, linestyle=(0, (4, 3)))
    ax.axhline(least, color=SENSITIVE, linewidth=1.1, linestyle=(0, (4, 3)))
    ax.annotate(
        r"$\tau_A$", (share * top, 1.02 * beta * top / 4), (3, 0), textcoords="offset points", color=ACTIVE
    )
    ax.annotate(r"$\tau_S$", (0, least), (2, 3), textcoords="offset points", color=SENSITIVE)
    ax.set_xlabel("$G$")
    ax.set_title(
        r"$\max|\partial G/\partial\theta|$ of a gate over $\max|\partial q/\partial\theta|$ of all",
        fontsize=10,
        color=INK,
        pad=14,
    )
    ax.legend(frameon=False, labelcolor=INK, fontsize=8, markerscale=3)
    quiet(ax)
