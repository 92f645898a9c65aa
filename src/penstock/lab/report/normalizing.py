"""N12: the diagonal of σ^(2(d-1)) Λ over width and depth, its mean and its spread."""

from typing import TYPE_CHECKING

import numpy as np

from penstock.lab.claims.claim import Evidence
from penstock.lab.report.ink import INK, PALETTE
from penstock.lab.report.over_depth import Dots, Line, Panel, draw_over_depth

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_normalizing"]

_MARKERS = (("o", False), ("s", False), ("D", True))


def draw_normalizing(evidence: Evidence) -> "Figure":
    """Left the means, which are 1 but where sums tie; right the standard deviations against their formula."""
    depths = np.asarray(evidence["depths"])
    widths = [int(width) for width in evidence["widths"]]
    formula = np.sqrt(np.asarray(evidence["variance_formula"]))
    means: list[Dots | Line] = []
    spreads: list[Dots | Line] = [
        Line(depths, formula[place], PALETTE[place], f"w = {width}") for place, width in enumerate(widths)
    ]
    for kind, (marker, hollow) in enumerate(_MARKERS):
        for place in range(len(widths)):
            dress = {"color": PALETTE[place], "marker": marker, "hollow": hollow}
            mean, around = (evidence[name][kind, place] for name in ("mean", "mean_intervals"))
            aside = 0.08 * (kind + 3 * place - 4)
            means.append(Dots(depths, mean, around, aside=aside, **dress))
            if kind < 2:
                spread = np.sqrt(np.asarray(evidence["variance"][kind, place]))
                wide = np.asarray(evidence["variance_intervals"][kind, place]) / (2 * spread)
                spreads.append(Dots(depths, spread, wide, aside=0.1 * (kind - 0.5), **dress))
    names = evidence["kinds"].split("; ")
    for name, (marker, hollow) in zip(names, _MARKERS, strict=True):
        means.append(Dots([], [], [], INK, label=name, marker=marker, hollow=hollow))
    return draw_over_depth(
        [
            Panel(r"mean of $\sigma^{2(d-1)}\,\Lambda(s,s)$, with 95 % intervals", means, level=1.0),
            Panel(r"standard deviation, and $\sqrt{(1+1/w)^{d-1}-1}$", spreads),
        ]
    )
