"""A monitor's history as a picture."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_history"]

_PANELS = (
    ("open", "gates open"),
    ("dead", "units dead"),
    ("flipped", "gates flipped since the last look"),
    ("flipped_since_start", "gates flipped since the start"),
)

# More layers than this are told apart by a scale of colors, not by a legend.
_LEGEND = 12


def draw_history(
    history: Mapping[str, Any], units: Mapping[str, int], gates: Mapping[str, int], also: Sequence[str]
) -> "Figure":
    """Shares by layer against steps: the dead of all `units`, the flipped of all `gates` over all inputs.

    Below stand the measurements of `also` that are numbers, or short rows of numbers.
    """
    from matplotlib.figure import Figure

    drawn = [name for name in also if history[name].dtype != object and history[name][0].size <= 20]
    rows = 2 + -(-len(drawn) // 2)
    figure = Figure(figsize=(10, 3 * rows), layout="constrained")
    panels = figure.subplots(rows, 2, squeeze=False, sharex=True).flatten()
    whole = {"open": dict.fromkeys(units, 1), "dead": units, "flipped": gates, "flipped_since_start": gates}
    colors = _colors(len(units))
    for axes, (key, title) in zip(panels, _PANELS, strict=False):
        for color, (name, values) in zip(colors, history[key].items(), strict=True):
            axes.plot(
                history["step"], 100 * values / max(whole[key][name], 1), color=color, label=name, marker="."
            )
        _label(axes, title)
        axes.yaxis.set_major_formatter("{x:g} %")
        axes.set_ylim(0, max(axes.get_ylim()[1], 1))
    for axes, name in zip(panels[4:], drawn, strict=False):
        axes.plot(
            history["step"], history[name].reshape(len(history["step"]), -1), marker=".", color="#a03b2a"
        )
        _label(axes, name)
    for axes in panels[4 + len(drawn) :]:
        axes.remove()
    for axes in panels[4 + len(drawn) - 2 : 4 + len(drawn)]:
        axes.tick_params(labelbottom=True)
        axes.set_xlabel("step")
    _name_layers(figure, list(panels[:4]), list(units), colors)
    return figure


def _label(axes: "Axes", title: str) -> None:
    axes.set_title(title, loc="left", fontsize=10)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def _colors(layers: int) -> list[Any]:
    from matplotlib import colormaps

    return [colormaps["viridis"](share) for share in np.linspace(0, 0.9, layers)]


def _name_layers(figure: "Figure", panels: list["Axes"], names: list[str], colors: list[Any]) -> None:
    if len(names) <= _LEGEND:
        figure.legend(
            *panels[0].get_legend_handles_labels(), loc="outside right upper", title="layer", frameon=False
        )
        return
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    scale = ScalarMappable(Normalize(0, len(names)), ListedColormap(colors))
    bar = figure.colorbar(scale, ax=panels, pad=0.02)
    shown = np.unique(np.linspace(0, len(names) - 1, _LEGEND).round().astype(int))
    bar.set_ticks([place + 0.5 for place in shown], labels=[names[place] for place in shown])
    bar.ax.invert_yaxis()
