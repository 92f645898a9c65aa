"""Test accuracy over epochs, a line for each regime and a band from the worst seed to the best."""

import math
from collections.abc import Iterator

from penstock.lab.report.page.markup import Markup, tag
from penstock.lab.report.regimes import shown
from penstock.lab.report.tour.regimes.panel import Panel, apart
from penstock.lab.report.tour.regimes.training import Course, Regimes

__all__ = ["draw_accuracy", "epochs_told"]

TICKS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
NAME_ROOM = 17.0


def draw_accuracy(regimes: Regimes, width: int) -> Markup:
    """`width` wide in its own units; drawn anew for a phone."""
    courses = list(regimes.courses.values())
    panel = Panel(
        46.0,
        width - 84.0,
        34.0,
        330.0,
        (1.0, max(float(regimes.size.epochs), 2.0)),
        _range(regimes),
        _spacing,
    )
    ends = [panel.y(float(_inside(panel, course.test[:, -1].mean()))) for course in courses]
    lower, upper = panel.up
    heights = [tick for tick in TICKS if lower <= tick <= upper]
    body = [
        tag("text", "correct on the test digits", x=4, y=14, class_="axis"),
        *panel.axes(heights, lambda tick: f"{100 * tick:.0f} %", epochs_told(regimes.size.epochs, width)),
        tag("text", "epochs", x=(panel.left + panel.right) / 2, y=366, text_anchor="middle", class_="axis"),
        *(_band(panel, course) for course in courses),
        *(_line(panel, course) for course in courses),
        *_names(panel, courses, apart(ends, NAME_ROOM)),
    ]
    kind = "chart " + ("broad" if width > 500 else "narrow")
    return tag("svg", *body, viewBox=f"0 0 {width} 374", class_=kind, role="img", aria_label=_spoken(regimes))


def epochs_told(epochs: int, width: int, first: int = 1) -> list[int]:
    """The epochs that are written below: the first, round ones, the last."""
    every = max(1, round(epochs / (6 if width > 250 else 3)))
    between = [epoch for epoch in range(every, epochs, every) if first < epoch <= epochs - every / 2]
    return [first, *between, epochs] if epochs > first else [first]


def _spacing(share: float) -> float:
    """From 90 % to 99 % it is as far as from 0 % to 90 %: each time nine mistakes of ten are gone."""
    return -math.log10(1 - share)


def _range(regimes: Regimes) -> tuple[float, float]:
    """From below the worst to above the best; a network without a mistake stands at half a mistake."""
    tests = [course.test for course in regimes.courses.values()]
    best = min(max(float(test.max()) for test in tests), 1 - 0.5 / regimes.tested)
    return max(0.0, min(float(test.min()) for test in tests) - 0.04), 1 - (1 - best) / 1.4


def _inside(panel: Panel, share: float) -> float:
    return min(share, panel.up[1])


def _line(panel: Panel, course: Course) -> Markup:
    curve = [
        (float(epoch), _inside(panel, float(share)))
        for epoch, share in enumerate(course.test.mean(axis=0), start=1)
    ]
    return tag("polyline", points=panel.points(curve), class_=f"curve regime-{course.regime}")


def _band(panel: Panel, course: Course) -> Markup:
    def edge(shares: list[float]) -> list[tuple[float, float]]:
        return [(float(epoch), _inside(panel, share)) for epoch, share in enumerate(shares, start=1)]

    best, worst = edge(course.test.max(axis=0).tolist()), edge(course.test.min(axis=0).tolist())
    return tag(
        "polygon", points=panel.points([*best, *reversed(worst)]), class_=f"band regime-{course.regime}"
    )


def _names(panel: Panel, courses: list[Course], heights: list[float]) -> Iterator[Markup]:
    for course, height in zip(courses, heights, strict=True):
        kind = f"regime regime-{course.regime}"
        yield tag("text", shown(course.regime), x=panel.right + 8, y=height, dy=".35em", class_=kind)


def _spoken(regimes: Regimes) -> str:
    told = "; ".join(
        f"{shown(name)} from {100 * course.test[:, 0].mean():.1f} to {100 * course.test[:, -1].mean():.1f}"
        for name, course in regimes.courses.items()
    )
    return f"Test accuracy in percent, after the first epoch and after epoch {regimes.size.epochs}: {told}"
