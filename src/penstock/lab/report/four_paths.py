"""N Figure 4 with its Table 3, counted: how four paths of a term that survives pass from layer to layer."""

from typing import TYPE_CHECKING

from penstock.lab.claims.claim import Evidence
from penstock.lab.report.frame import quiet
from penstock.lab.report.ink import FAINT, INK, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_four_paths"]

STRANDS = {
    # the node that each path leaves, and the one it reaches: 0 above, 1 below, 0.5 where there is one
    "a": ((0.5, 0.5, 0.5, 0.5), (0.5, 0.5, 0.5, 0.5)),
    "b": ((0.5, 0.5, 0.5, 0.5), (0.0, 0.0, 1.0, 1.0)),
    "c": ((0.0, 0.0, 1.0, 1.0), (0.5, 0.5, 0.5, 0.5)),
    "d": ((0.0, 0.0, 1.0, 1.0), (0.0, 0.0, 1.0, 1.0)),
}
MEANING = {"a": "one weight", "b": "one node to two", "c": "two nodes to one", "d": "two weights apart"}
PATHS = ("$p_a$", "$p'_a$", "$p_b$", "$p'_b$")


def draw_four_paths(evidence: Evidence) -> "Figure":
    """The four layouts; how often each follows each, and what Table 3 allows; (21) against enumeration."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5.6), facecolor="white")
    above, below = figure.subfigures(2, 1, height_ratios=(2.1, 3.5), squeeze=False)[:, 0]
    axes = above.subplots(1, 4)
    above.subplots_adjust(left=0.03, right=0.97, top=0.82, bottom=0.2, wspace=0.25)
    for ax, layout in zip(axes, STRANDS, strict=True):
        _draw_layout(ax, layout)
    above.legend(
        *axes[0].get_legend_handles_labels(), loc="lower center", ncols=4, frameon=False, labelcolor=INK
    )
    left, right = below.subplots(1, 2, width_ratios=(1, 1.25))
    below.subplots_adjust(left=0.1, right=0.97, top=0.84, bottom=0.17, wspace=0.28)
    _draw_steps(left, evidence)
    _draw_formula(right, evidence)
    return figure


def _draw_layout(ax: "Axes", layout: str) -> None:
    leave, reach = STRANDS[layout]
    for strand, (start, end) in enumerate(zip(leave, reach, strict=True)):
        heights = [1 - node + _aside(strand, ends) for node, ends in ((start, leave), (end, reach))]
        ax.plot(
            (0, 1), heights, color=PALETTE[strand], linewidth=3, label=PATHS[strand], solid_capstyle="round"
        )
    for x, ends in ((0, leave), (1, reach)):
        heights = [1 - end for end in sorted(set(ends))]
        ax.scatter(
            [x] * len(heights), heights, s=330, facecolor="white", edgecolor=INK, linewidth=1.3, zorder=3
        )
    ax.set_xlim(-0.25, 1.25)
    ax.set_ylim(-0.35, 1.35)
    ax.set_axis_off()
    ax.set_title(f"({layout})  {MEANING[layout]}", fontsize=10, color=INK)


def _aside(strand: int, ends: tuple[float, ...]) -> float:
    """Side by side: four strands where there is one node, two and two where there are two."""
    return 0.09 * (1.5 - strand if len(set(ends)) == 1 else 0.5 - strand % 2)


def _draw_steps(ax: "Axes", evidence: Evidence) -> None:
    """Table 3: a ring where the paper allows the step, the number of times it was counted inside."""
    from penstock.lab.claims.four_paths import LAYOUTS, TABLE_3

    for row, current in enumerate(LAYOUTS):
        for column, following in enumerate(LAYOUTS):
            count = int(evidence["follows"][row, column])
            if following in TABLE_3[current]:
                ax.scatter([column], [row], s=1150, facecolor="#dceaf5", edgecolor=PALETTE[0], linewidth=1.4)
            ax.text(column, row, f"{count:,}", ha="center", va="center_baseline", color=INK, fontsize=9.5)
    names = [f"({layout})" for layout in LAYOUTS]
    ax.set_xticks(range(4), names)
    ax.set_yticks(range(4), names)
    ax.set_xlim(-0.6, 3.6)
    ax.set_ylim(3.6, -0.6)
    ax.set_xlabel("next layer", color=INK)
    ax.set_ylabel("this layer", color=INK)
    ax.tick_params(length=0, colors=INK)
    for spine in ax.spines.values():
        spine.set_color(FAINT)
    ax.set_title(
        f"layouts of the {evidence['survive']:,} terms that survive\n(rings: Table 3)", fontsize=10, color=INK
    )


def _draw_formula(ax: "Axes", evidence: Evidence) -> None:
    groups = {"two layers": "other_layer", "one layer": "same_layer"}
    tallest = max(
        float(evidence[f"{key}_{kind}"]) for key in groups.values() for kind in ("enumerated", "printed")
    )
    for place, key in enumerate(groups.values()):
        for aside, kind in ((-0.19, "enumerated"), (0.19, "printed")):
            value = float(evidence[f"{key}_{kind}"])
            colour = PALETTE[0] if kind == "enumerated" else PALETTE[1]
            label = {"enumerated": "enumerated", "printed": "(21) as printed"}[kind] if place == 0 else None
            ax.bar(place + aside, value, width=0.34, color=colour, label=label)
            ax.annotate(
                f"{value:.4f}",
                (place + aside, value),
                (0, 3),
                textcoords="offset points",
                ha="center",
                color=INK,
                fontsize=9.5,
            )
    ax.set_xticks(range(len(groups)), [f"$\\theta_a$, $\\theta_b$ of {name}" for name in groups])
    ax.set_ylim(0, 1.3 * tallest)
    ax.set_ylabel(r"$E(\tau)$ of a term that survives")
    quiet(ax)
    ax.grid(visible=False)
    ax.legend(frameon=False, loc="upper center", ncols=2, labelcolor=INK, fontsize=9.5)
    ax.set_title(f"(21), network 1-2-2-1, σ = {evidence['sigma']:g}", fontsize=10, color=INK)
