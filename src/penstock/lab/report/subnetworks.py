"""A small fully connected network opened up as N Figure 1 does it: its paths and its active sub-networks.

`widths` lists every layer from the inputs to the output, as in `(2, 3, 3, 1)`; `gates` is one array a hidden
layer, with a row an example: `list(penstock.capture(model, x).to_dense().values())`. Anything with one output
and few enough units to look at is drawn; the paths are numbered as `penstock.list_paths` lists them.
"""

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, product
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from penstock.errors import PenstockError
from penstock.lab.report.ink import ACTIVE, FAINT, INK, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["active_weights", "draw_opened", "draw_subnetworks", "shared_paths"]

MOST_PANELS = 24
MOST_EXAMPLES = 60
IN_A_ROW = 4


def draw_opened(widths: Sequence[int], gates: Sequence[ArrayLike]) -> "Figure":
    """The whole of N Figure 1: the network, its paths one by one, every active sub-network, and Λ.

    A network whose paths need more than 24 panels is refused; `draw_subnetworks` draws the sub-networks
    alone.
    """
    from matplotlib.figure import Figure

    widths, opened = _checked(widths, gates)
    bundles = prod(widths[:-2])
    if bundles > MOST_PANELS:
        raise PenstockError(
            f"the paths of a {_name(widths)} network fill {bundles} panels, more than can be looked at; "
            "draw its active sub-networks alone with draw_subnetworks"
        )
    columns = min(max(bundles // widths[0], 3), 6, bundles)
    rows = -(-bundles // columns)
    examples = len(opened[0])
    tall = _height(widths)
    upper, lower = max(rows * (0.62 * tall + 0.1), tall), _rows(examples) * tall
    figure = Figure(figsize=(10, upper + lower), facecolor="white")
    above, below = figure.subfigures(2, 1, height_ratios=(upper, lower), squeeze=False)[:, 0]
    whole, paths = above.subfigures(1, 2, width_ratios=(1, 2.6), squeeze=False)[0]
    letters = _letters()
    _draw_whole(whole, widths, next(letters))
    _draw_enumeration(paths, widths, (rows, columns), list(islice(letters, bundles)))
    _draw_examples(below, widths, opened, list(islice(letters, examples + 1)))
    return figure


def draw_subnetworks(widths: Sequence[int], gates: Sequence[ArrayLike]) -> "Figure":
    """Every example's active sub-network in red, its gates' 1 and 0 in the circles, and Λ beside them."""
    from matplotlib.figure import Figure

    widths, opened = _checked(widths, gates)
    examples = len(opened[0])
    figure = Figure(figsize=(10, _rows(examples) * _height(widths)), facecolor="white")
    _draw_examples(figure, widths, opened, list(islice(_letters(), examples + 1)))
    return figure


def active_weights(
    widths: Sequence[int], gates: Sequence[ArrayLike], example: int
) -> list[NDArray[np.bool_]]:
    """Which weights carry an open path of this example: one array a weight layer, next × this.

    A weight does where both its ends are open and every other layer has an open gate too.
    """
    widths, opened = _checked(widths, gates)
    states = _states(widths, opened, example)
    if not all(state.any() for state in states):
        return [np.zeros((b, a), dtype=bool) for a, b in pairwise(widths)]
    return [np.outer(above, below) for below, above in pairwise(states)]


def shared_paths(gates: Sequence[ArrayLike]) -> NDArray[np.int64]:
    """Λ(s, s') = Π τ(s, s', l), the paths from one input open for both examples (N Definition C.2)."""
    counts = [np.asarray(layer, dtype=np.int64) for layer in gates]
    return prod((layer @ layer.T for layer in counts[1:]), start=counts[0] @ counts[0].T)


def _draw_whole(figure: "SubFigure", widths: tuple[int, ...], letter: str) -> None:
    ax = figure.subplots()
    _margins(figure, left=0.09, right=0.96)
    _draw_wires(ax, widths)
    hidden = range(1, len(widths) - 1)
    for layer, heights in enumerate(_heights(widths)):
        for unit, y in enumerate(heights):
            if layer in hidden:
                _node(ax, layer, y, "white", INK, f"$G_{{{layer},{unit + 1}}}$", INK, size=520, text=8.5)
            elif layer == 0:
                _node(ax, layer, y, INK, INK, size=60)
                ax.annotate(
                    f"$x({unit + 1})$",
                    (layer, y),
                    (-7, 0),
                    textcoords="offset points",
                    ha="right",
                    va="center",
                    color=INK,
                )
            else:
                _node(ax, layer, y, INK, INK, size=60)
                ax.annotate(
                    r"$\hat{y}$",
                    (layer, y),
                    (8, 0),
                    textcoords="offset points",
                    ha="left",
                    va="center",
                    color=INK,
                )
    _title(ax, letter, f"{prod(widths)} paths")


def _draw_enumeration(
    figure: "Figure | SubFigure", widths: tuple[int, ...], grid: tuple[int, int], letters: list[str]
) -> None:
    """A panel for every way to the last hidden layer; the paths of a panel differ in the last gate alone."""
    axes = figure.subplots(*grid, squeeze=False)
    _margins(figure, left=0.01, right=0.99, wspace=0.12)
    heights = _heights(widths)
    fan = widths[-2]
    ways = list(product(*(range(width) for width in widths[:-2])))
    for ax in axes.flat[len(ways) :]:
        ax.set_axis_off()
    for panel, (ax, way) in enumerate(zip(axes.flat, ways, strict=False)):
        _draw_wires(ax, widths)
        for unit in range(fan):
            nodes = (*way, unit, 0)
            # side by side where they share a wire, so that each path can be followed
            aside = 0.075 * (unit - (fan - 1) / 2)
            path = [heights[layer][node] - aside for layer, node in enumerate(nodes)]
            colour = PALETTE[unit % len(PALETTE)]
            ax.plot(range(len(nodes)), path, color=colour, linewidth=1.9, solid_joinstyle="round", zorder=2)
            _number(ax, panel * fan + unit + 1, len(widths) - 2, float(heights[-2][unit]), colour)
        for layer, column in enumerate(heights):
            for y in column:
                _node(ax, layer, y, "white", INK, size=26)
        first, last = panel * fan + 1, panel * fan + fan
        _title(ax, letters[panel], f"$p_{{{first}}}$ to $p_{{{last}}}$" if fan > 1 else f"$p_{{{first}}}$")


def _draw_examples(
    figure: "Figure | SubFigure", widths: tuple[int, ...], opened: list[NDArray[np.bool_]], letters: list[str]
) -> None:
    examples = len(opened[0])
    overlap = shared_paths(opened)
    grid = figure.subplots(_rows(examples), min(examples + 1, IN_A_ROW), squeeze=False)
    axes = list(grid.flat)
    _margins(figure, left=0.02, right=0.97, wspace=0.2, bottom=0.09)
    for ax in axes[examples + 1 :]:
        ax.set_axis_off()
    for example in range(examples):
        _draw_active(axes[example], widths, opened, example)
        paths = int(overlap[example, example]) * widths[0]
        _title(
            axes[example], letters[example], f"$x_{{{example + 1}}}$: {paths} of {prod(widths)} paths active"
        )
    _draw_overlap(axes[examples], overlap, letters[examples])


def _draw_active(ax: "Axes", widths: tuple[int, ...], opened: list[NDArray[np.bool_]], example: int) -> None:
    heights = _heights(widths)
    carried = active_weights(widths, opened, example)
    _draw_wires(ax, widths)
    for layer, weights in enumerate(carried):
        for above, below in np.argwhere(weights).tolist():
            ends = [heights[layer][below], heights[layer + 1][above]]
            ax.plot([layer, layer + 1], ends, color=ACTIVE, linewidth=2.4, solid_capstyle="round", zorder=2)
    for layer, state in enumerate(_states(widths, opened, example)):
        used = np.any(carried[layer], axis=0) if layer < len(carried) else np.any(carried[-1], axis=1)
        for unit, y in enumerate(heights[layer]):
            edge = ACTIVE if used[unit] else INK
            if layer in (0, len(widths) - 1):
                _node(ax, layer, y, edge, edge, size=60)
            else:
                fill, ink = (ACTIVE, "white") if used[unit] else ("white", INK)
                _node(ax, layer, y, fill, edge, str(int(state[unit])), ink, size=250, text=10.0)


def _draw_overlap(ax: "Axes", overlap: NDArray[np.int64], letter: str) -> None:
    """Λ as a table of shades with its numbers."""
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("active", ["#ffffff", ACTIVE])
    largest = max(int(overlap.max()), 1)
    ax.imshow(overlap, cmap=shades, vmin=0, vmax=largest * 1.15)
    for (row, column), value in np.ndenumerate(overlap):
        dark = value > 0.6 * largest
        ax.text(
            column,
            row,
            str(int(value)),
            ha="center",
            va="center",
            color="white" if dark else INK,
            fontsize=11,
        )
    names = [f"$x_{{{k + 1}}}$" for k in range(len(overlap))]
    ax.set_xticks(range(len(names)), names)
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(length=0, colors=INK)
    ax.set_xticks(np.arange(len(names) - 1) + 0.5, minor=True)
    ax.set_yticks(np.arange(len(names) - 1) + 0.5, minor=True)
    ax.grid(which="minor", color=FAINT, linewidth=0.8)
    ax.tick_params(which="minor", length=0)
    for spine in ax.spines.values():
        spine.set_color(FAINT)
    _title(ax, letter, r"$\Lambda(s,s^\prime)$")


def _draw_wires(ax: "Axes", widths: tuple[int, ...]) -> None:
    heights = _heights(widths)
    for layer, (below, above) in enumerate(pairwise(heights)):
        for low, high in product(below, above):
            ax.plot([layer, layer + 1], [low, high], color=FAINT, linewidth=0.8, zorder=1)
    tallest = max(widths)
    ax.set_xlim(-0.45, len(widths) - 1 + 0.45)
    ax.set_ylim(-(tallest - 1) / 2 - 0.55, (tallest - 1) / 2 + 0.55)
    ax.set_axis_off()


def _node(
    ax: "Axes",
    layer: int,
    y: float,
    fill: str,
    edge: str,
    label: str = "",
    ink: str = INK,
    *,
    size: int,
    text: float = 9.0,
) -> None:
    ax.scatter([layer], [y], s=size, facecolor=fill, edgecolor=edge, linewidth=1.2, zorder=3)
    if label:
        ax.text(
            layer,
            y,
            label,
            ha="center",
            va="center_baseline" if label.isdigit() else "center",
            color=ink,
            fontsize=text,
            zorder=4,
        )


def _number(ax: "Axes", path: int, layer: int, y: float, colour: str) -> None:
    """A path's number at its last gate: above the wires in the upper half, below them in the lower."""
    up = 5 if y >= 0 else -13
    ax.annotate(
        f"$p_{{{path}}}$",
        (layer, y),
        (6, up),
        textcoords="offset points",
        color=colour,
        fontsize=10,
        zorder=5,
    )


def _title(ax: "Axes", letter: str, text: str) -> None:
    ax.set_title(f"({letter})  {text}", fontsize=9.5, color=INK, pad=4)


def _margins(figure: "Figure | SubFigure", **sides: float) -> None:
    """Room for one line of titles above, the same number of inches in a small figure and in a tall one."""
    inches = figure.get_window_extent().height / figure.figure.dpi
    figure.subplots_adjust(**{"top": 1 - 0.3 / inches, "bottom": 0.22 / inches, "hspace": 0.35, **sides})


def _height(widths: Sequence[int]) -> float:
    """How tall a panel is, in inches."""
    return max(1.7, 0.42 * max(widths)) + 0.9


def _rows(examples: int) -> int:
    """The active sub-networks and Λ stand four in a row."""
    return -(-(examples + 1) // IN_A_ROW)


def _letters() -> Iterator[str]:
    """a, b, …, z, aa, ab, …"""
    for count in range(1, 3):
        yield from map("".join, product("abcdefghijklmnopqrstuvwxyz", repeat=count))


def _heights(widths: Sequence[int]) -> list[NDArray[np.float64]]:
    """Where the units of every layer stand, the first on top."""
    return [(width - 1) / 2 - np.arange(width, dtype=np.float64) for width in widths]


def _states(widths: Sequence[int], opened: list[NDArray[np.bool_]], example: int) -> list[NDArray[np.bool_]]:
    """The gates of one example, with inputs and output, which are always open."""
    return [
        np.ones(widths[0], dtype=bool),
        *(layer[example] for layer in opened),
        np.ones(widths[-1], dtype=bool),
    ]


def _checked(
    widths: Sequence[int], gates: Sequence[ArrayLike]
) -> tuple[tuple[int, ...], list[NDArray[np.bool_]]]:
    widths = tuple(int(width) for width in widths)
    opened = [np.asarray(layer, dtype=bool) for layer in gates]
    if len(widths) < 3 or widths[-1] != 1:
        raise PenstockError(f"only a network with hidden layers and one output is drawn, not {_name(widths)}")
    if len(opened) != len(widths) - 2 or any(
        layer.ndim != 2 or layer.shape[1] != width for layer, width in zip(opened, widths[1:-1], strict=False)
    ):
        shapes = ", ".join(str(layer.shape) for layer in opened) or "none"
        raise PenstockError(
            f"the gates of a {_name(widths)} network are one array a layer, examples × units, not {shapes}"
        )
    if len({len(layer) for layer in opened}) > 1 or not len(opened[0]):
        raise PenstockError(
            "every hidden layer needs the gates of the same examples, one row each, and at least one"
        )
    if len(opened[0]) > MOST_EXAMPLES:
        raise PenstockError(
            f"{len(opened[0])} sub-networks are too many to look at; give {MOST_EXAMPLES} examples or fewer"
        )
    return widths, opened


def _name(widths: Sequence[int]) -> str:
    return "-".join(map(str, widths))
