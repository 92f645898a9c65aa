"""D5: the paths that random gates leave open, for one input and for two."""

from typing import TYPE_CHECKING

import numpy as np

from penstock.lab.claims.claim import Evidence
from penstock.lab.report.ink import INK, PALETTE
from penstock.lab.report.over_depth import Dots, Line, Panel, draw_over_depth

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_shared_paths"]

_MARKERS = ("o", "s", "D", "^", "v")


def draw_shared_paths(evidence: Evidence) -> "Figure":
    """Left λ(s,s') as a share of (μw)^(d-1), where the power of μ shows; right all means over their
    formulas.
    """
    depths = np.asarray(evidence["depths"])
    widths = [int(width) for width in evidence["widths"]]
    shares: list[Dots | Line] = []
    ratios: list[Dots | Line] = []
    for row, mu in enumerate(float(mu) for mu in evidence["mus"]):
        color = PALETTE[row % len(PALETTE)]
        shares.append(Line(depths, mu ** (depths - 1.0), color, rf"$\mu^{{d-1}}$, $\mu$ = {mu:.1f}"))
        shares.append(Line(depths, mu**depths, color, dashed=True))
        for place in range(len(widths)):
            marker = _MARKERS[place % len(_MARKERS)]
            own, its = (np.asarray(evidence[name][row, place]) for name in ("own", "own_intervals"))
            cross, around = (np.asarray(evidence[name][row, place]) for name in ("cross", "cross_intervals"))
            share = mu ** (depths - 1.0)
            aside = 0.05 * (place - (len(widths) - 1) / 2)
            shares.append(Dots(depths, cross * share, around * share, color, marker=marker, aside=aside))
            number = row * len(widths) + place - (len(evidence["mus"]) * len(widths) - 1) / 2
            aside = 0.09 * number
            ratios.append(Dots(depths, own, its, color, marker=marker, aside=aside - 0.02))
            ratios.append(Dots(depths, cross, around, color, marker=marker, aside=aside + 0.02, hollow=True))
    shares.append(Line([], [], INK, r"$\mu^d$, as the introduction has it", dashed=True))
    for place, width in enumerate(widths):
        shares.append(Dots([], [], [], INK, f"w = {width}", marker=_MARKERS[place % len(_MARKERS)]))
    ratios.append(Dots([], [], [], INK, r"$\lambda(s,s)$ over $(\mu w)^{d-1}$"))
    ratios.append(Dots([], [], [], INK, r"$\lambda(s,s^\prime)$ over $(\mu^2 w)^{d-1}$", hollow=True))
    return draw_over_depth(
        [
            Panel(r"mean of $\lambda(s,s^\prime)$, as a share of $(\mu w)^{d-1}$", shares, logarithmic=True),
            Panel("means over what Lemma 2.4 says, with 95 % intervals", ratios, level=1.0),
        ]
    )
