"""Where the five regimes end, side by side in the order of N Table 2."""

import math
from collections.abc import Iterator

from penstock.lab.report.page.markup import Markup, tag
from penstock.lab.report.regimes import shown
from penstock.lab.report.tour.regimes.panel import Panel
from penstock.lab.report.tour.regimes.training import Course, Regimes

__all__ = ["draw_final", "mean_and_spread"]

WIDTH = 430.0


def draw_final(regimes: Regimes) -> Markup:
    """A dot for every seed, a bar at their mean."""
    courses = list(regimes.courses.values())
    finals = [100 * float(share) for course in courses for share in course.test[:, -1]]
    step = next(
        (each for each in (0.5, 1.0, 2.0, 5.0, 10.0) if (max(finals) - min(finals)) / each <= 6), 20.0
    )
    least, most = step * math.floor(min(finals) / step), step * math.ceil(max(finals) / step)
    panel = Panel(
        46.0, WIDTH - 4.0, 34.0, 300.0, (-0.5, len(courses) - 0.5), (least, max(most, least + step))
    )
    ticks = [least + step * each for each in range(round((panel.up[1] - least) / step) + 1)]
    columns = [mark for place, course in enumerate(courses) for mark in _column(panel, place, course)]
    body = [
        tag("text", f"after epoch {regimes.size.epochs}", x=4, y=14, class_="axis"),
        *panel.axes(ticks, lambda tick: f"{tick:g} %", ()),
        *columns,
    ]
    return tag(
        "svg",
        *body,
        viewBox=f"0 0 {WIDTH:g} 374",
        class_="chart final",
        role="img",
        aria_label=_spoken(regimes),
    )


def mean_and_spread(course: Course) -> tuple[float, float]:
    """In percent, over the seeds; the spread is the standard deviation."""
    finals = 100 * course.test[:, -1]
    return float(finals.mean()), float(finals.std(ddof=1)) if len(finals) > 1 else 0.0


def _column(panel: Panel, place: int, course: Course) -> Iterator[Markup]:
    middle = panel.x(float(place))
    seeds = 100 * course.test[:, -1]
    for number, share in enumerate(seeds):
        aside = 9 * (number - (len(seeds) - 1) / 2)
        yield tag(
            "circle", cx=middle + aside, cy=panel.y(float(share)), r=4, class_=f"dot regime-{course.regime}"
        )
    mean, spread = mean_and_spread(course)
    y = panel.y(mean)
    kind = f"regime-{course.regime}"
    yield tag("line", x1=middle - 30, x2=middle + 30, y1=y, y2=y, class_=f"mean {kind}")
    texts = (
        (shown(course.regime), 20, f"regime {kind}"),
        (f"{mean:.1f}", 40, "score"),
        (f"± {spread:.1f}", 58, ""),
    )
    for text, below, named in texts:
        yield tag("text", text, x=middle, y=panel.lower + below, text_anchor="middle", class_=named or None)


def _spoken(regimes: Regimes) -> str:
    told = ", ".join(
        "{} {:.1f} plus or minus {:.1f}".format(shown(name), *mean_and_spread(course))
        for name, course in regimes.courses.items()
    )
    return f"Test accuracy in percent after epoch {regimes.size.epochs}: {told}"
