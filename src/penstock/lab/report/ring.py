"""A circular convolutional network and its bundles of paths, as D Figure 9 draws the network."""

from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from penstock.errors import PenstockError
from penstock.lab.report.ink import FAINT, INK, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_bundles"]

MOST_BUNDLES = 32


def draw_bundles(positions: int, kernel: int, paths: ArrayLike, bundles: ArrayLike) -> "Figure":
    """The network with every weight's uses in one colour, and each bundle: a path and its rotations.

    `paths` has a row a path, the position in every layer from the input to the last convolution; `bundles`
    numbers each path's bundle from 0.
    """
    from matplotlib.figure import Figure

    nodes, bundle = np.asarray(paths, dtype=np.int64), np.asarray(bundles, dtype=np.int64)
    count = int(bundle.max()) + 1
    if count > MOST_BUNDLES or positions > len(PALETTE) or kernel > len(PALETTE):
        raise PenstockError(
            f"{count} bundles of {positions} paths are more than can be looked at; take {MOST_BUNDLES} "
            f"bundles of {len(PALETTE)} or fewer"
        )
    columns = 2 if count <= 8 else 4
    rows = ceil(count / columns)
    figure = Figure(figsize=(10, max(3.2, 1.25 * rows)), facecolor="white")
    left, right = figure.subfigures(1, 2, width_ratios=(1, 1.25), squeeze=False)[0]
    whole = left.subplots()
    left.subplots_adjust(left=0.02, right=0.97, top=0.9, bottom=0.16)
    _draw_network(whole, positions, kernel, nodes.shape[1])
    panels = right.subplots(rows, columns, squeeze=False)
    right.subplots_adjust(left=0.02, right=0.98, top=0.92, bottom=0.02, wspace=0.12, hspace=0.5)
    for ax in panels.flat:
        ax.set_axis_off()
    for number, ax in zip(range(count), panels.flat, strict=False):
        _draw_bundle(ax, positions, kernel, nodes[bundle == number])
    return figure


def _draw_network(ax: "Axes", positions: int, kernel: int, layers: int) -> None:
    for layer in range(layers - 1):
        for offset in range(kernel):
            for target in range(positions):
                source = (target + offset) % positions
                name = f"weight {offset + 1} of each kernel" if layer == target == 0 else None
                _wire(ax, layer, source, target, positions, PALETTE[offset], 1.9, name)
    for position in range(positions):
        y = _height(position, positions)
        name = f"mean over positions: 1/{positions}" if position == 0 else None
        ax.plot([layers - 1, layers], [y, 0], color=FAINT, linewidth=1.9, label=name, zorder=1)
        ax.annotate(
            f"$x({position + 1})$",
            (0, y),
            (-13, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            color=INK,
        )
    ax.annotate(r"$\hat{y}$", (layers, 0), (12, 0), textcoords="offset points", va="center", color=INK)
    _draw_nodes(ax, positions, layers, 190)
    tall = (positions - 1) / 2
    ax.set_xlim(-0.6, layers + 0.4)
    ax.set_ylim(-tall - 0.4, tall + 0.5)
    ax.set_axis_off()
    ax.legend(
        loc="upper center", bbox_to_anchor=(0.5, 0.02), frameon=False, labelcolor=INK, ncols=2, fontsize=9
    )
    ax.set_title(
        f"{layers - 1} circular convolutions, kernel {kernel}, {positions} positions",
        fontsize=10.5,
        color=INK,
    )


def _draw_bundle(ax: "Axes", positions: int, kernel: int, paths: NDArray[np.int64]) -> None:
    layers = paths.shape[1]
    for layer in range(layers - 1):
        for offset in range(kernel):
            for target in range(positions):
                _wire(ax, layer, (target + offset) % positions, target, positions, FAINT, 0.6)
    for path in paths:
        colour = PALETTE[(2 + path[0]) % len(PALETTE)]
        for layer, (source, target) in enumerate(pairwise(path.tolist())):
            _wire(ax, layer, source, target, positions, colour, 1.9)
        end = _height(int(path[-1]), positions)
        ax.plot([layers - 1, layers], [end, 0], color=colour, linewidth=1.9, zorder=2)
    _draw_nodes(ax, positions, layers, 20)
    tall = (positions - 1) / 2
    ax.set_xlim(-0.3, layers + 0.3)
    ax.set_ylim(-tall - 0.35, tall + 0.35)
    offsets = (paths[0, :-1] - paths[0, 1:]) % positions
    string = r"\,".join(rf"\theta_{{{layer + 1}}}({offset + 1})" for layer, offset in enumerate(offsets))
    ax.set_title(f"${string}\\,/\\,{positions}$", fontsize=10, color=INK, pad=3)


def _draw_nodes(ax: "Axes", positions: int, layers: int, size: int) -> None:
    heights = [_height(position, positions) for position in range(positions)]
    for layer in range(layers):
        ax.scatter(
            [layer] * positions, heights, s=size, facecolor="white", edgecolor=INK, linewidth=1.2, zorder=3
        )
    ax.scatter([layers], [0], s=size, facecolor=INK, edgecolor=INK, zorder=3)


def _wire(
    ax: "Axes",
    layer: int,
    source: int,
    target: int,
    positions: int,
    colour: str,
    width: float,
    name: str | None = None,
) -> None:
    ends = [_height(source, positions), _height(target, positions)]
    ax.plot(
        [layer, layer + 1],
        ends,
        color=colour,
        linewidth=width,
        label=name,
        zorder=1 if colour == FAINT else 2,
    )


def _height(position: int, positions: int) -> float:
    return (positions - 1) / 2 - position
