"""K(s, s) and the loss over training, on one axis of time, with the instants at which gates flip."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.lab.report.page.markup import Markup, number, tag
from penstock.lab.report.tour.training import STEPS, Training

__all__ = ["draw_chart"]

LEFT, RIGHT, TOP, BOTTOM = 50, 34, 50, 44
GAP = 40
# The least room for the number of a flip beside the next one's.
NUMBER_ROOM = 19


@dataclass(frozen=True)
class Panel:
    """A logarithmic axis between two heights of the drawing."""

    upper: float
    lower: float
    least: float
    most: float

    def y(self, value: float) -> float:
        share = (math.log10(value) - math.log10(self.least)) / (
            math.log10(self.most) - math.log10(self.least)
        )
        return self.lower - share * (self.lower - self.upper)

    def ticks(self) -> list[float]:
        return [
            10.0**power
            for power in range(math.ceil(math.log10(self.least)), math.floor(math.log10(self.most)) + 1)
        ]


def draw_chart(training: Training, width: int) -> Markup:
    """The whole chart, `width` wide in its own units; drawn anew for a phone, so that its letters stay
    readable."""
    kernels = [value for instant in training.instants for value in instant.kernel]
    tall = 210.0 if width > 500 else 190.0
    kernel = Panel(float(TOP), TOP + tall, min(kernels) / 1.3, max(kernels) * 1.3)
    losses = Panel(
        kernel.lower + GAP, kernel.lower + GAP + 84, min(training.losses) / 1.3, max(training.losses) * 1.3
    )
    height = losses.lower + BOTTOM
    body = [
        *_axes(kernel, width, "K(s, s)", 32),
        *_axes(losses, width, "loss", 14),
        *_time(width, losses.lower),
        *_flips(training, width, losses.lower),
        *_kernels(training, width, kernel),
        tag(
            "polyline",
            points=_points([(float(step), loss) for step, loss in enumerate(training.losses)], width, losses),
            class_="curve loss",
        ),
        tag(
            "line",
            x1=LEFT,
            x2=LEFT,
            y1=TOP - 4,
            y2=losses.lower,
            class_="cursor",
            data_left=LEFT,
            data_right=width - RIGHT,
        ),
    ]
    kind = "chart " + ("broad" if width > 500 else "narrow")
    return tag(
        "svg", *body, viewBox=f"0 0 {width} {height:g}", class_=kind, role="img", aria_label=_spoken(training)
    )


def _spoken(training: Training) -> str:
    first, last = number(training.losses[0], 3), number(training.losses[-1], 2)
    return (
        f"The tangent kernel of each input with itself over {STEPS} steps: it moves smoothly, and jumps at "
        f"{len(training.flips)} flips of gates. Below, the loss falls from {first} to {last}"
    )


def _x(time: float, width: int) -> float:
    return LEFT + time / STEPS * (width - LEFT - RIGHT)


def _points(curve: Sequence[tuple[float, float]], width: int, panel: Panel) -> str:
    return " ".join(f"{_x(time, width):.1f},{panel.y(value):.1f}" for time, value in curve)


def _axes(panel: Panel, width: int, name: str, above: int) -> Iterator[Markup]:
    yield tag("text", name, x=4, y=panel.upper - above, class_="axis")
    for tick in panel.ticks():
        y = panel.y(tick)
        yield tag("line", x1=LEFT, x2=width - RIGHT, y1=y, y2=y, class_="grid")
        yield tag("text", number(tick), x=LEFT - 7, y=y, dy=".35em", text_anchor="end", class_="tick")


def _time(width: int, y: float) -> Iterator[Markup]:
    yield tag("line", x1=LEFT, x2=width - RIGHT, y1=y, y2=y, class_="base")
    for step in range(0, STEPS + 1, 10 if width > 500 else 20):
        yield tag("text", str(step), x=_x(float(step), width), y=y + 17, text_anchor="middle", class_="tick")
    yield tag("text", "steps", x=(LEFT + width - RIGHT) / 2, y=y + 36, text_anchor="middle", class_="axis")


def _flips(training: Training, width: int, lower: float) -> Iterator[Markup]:
    last = -math.inf
    for count, flip in enumerate(training.flips, start=1):
        x = _x(flip.hi, width)
        kind = f"flip input-{flip.example + 1}" + ("" if flip.changes_npf else " idle")
        yield tag("line", x1=x, x2=x, y1=TOP - 6, y2=lower, class_=kind)
        if x - last >= NUMBER_ROOM:
            yield tag("text", str(count), x=x, y=TOP - 12, text_anchor="middle", class_="count")
            last = x


def _kernels(training: Training, width: int, panel: Panel) -> Iterator[Markup]:
    for example in range(len(training.targets)):
        curve = [(instant.time, instant.kernel[example]) for instant in training.instants]
        yield tag("polyline", points=_points(curve, width, panel), class_=f"curve input-{example + 1}")
        label = Markup(f"x<tspan dy='3' font-size='75%'>{example + 1}</tspan>")
        yield tag(
            "text",
            label,
            x=width - RIGHT + 6,
            y=panel.y(curve[-1][1]),
            dy=".35em",
            class_=f"name input-{example + 1}",
        )
