"""How far the gates have moved, a panel for each kind of gates and a line for each layer."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from penstock.lab.report.page.markup import Markup, number, tag
from penstock.lab.report.regimes import shown
from penstock.lab.report.tour.regimes.accuracy import epochs_told
from penstock.lab.report.tour.regimes.panel import Panel, apart
from penstock.lab.report.tour.regimes.training import Course, Regimes
from penstock.lab.report.tour.regimes.watching import Movement

__all__ = ["Quantity", "draw_movement", "held", "moving"]

TOP, TALL, BELOW, GAP = 44.0, 170.0, 40.0, 52.0
NAME_ROOM = 14.0


@dataclass(frozen=True)
class Quantity:
    """What is drawn, in words, and where a movement has it."""

    name: str
    of: Callable[[Movement], Float[np.ndarray, "layers looks"]]
    first: int
    """The first look at which there is something to be told."""
    named: bool
    """Whether the lines end far enough apart to bear the numbers of their layers."""


@dataclass(frozen=True)
class _Kind:
    """Regimes that share a panel."""

    title: str
    courses: Sequence[Course]


def moving(regimes: Regimes) -> list[Course]:
    """The regimes whose gates were seen to move; ReLU first, for it is the network that everybody has."""
    found = [course for course in regimes.courses.values() if course.movement.moves]
    return sorted(found, key=lambda course: course.regime != "relu")


def held(regimes: Regimes) -> list[Course]:
    """Those of whose gates none was ever seen to move."""
    return [course for course in regimes.courses.values() if not course.movement.moves]


def draw_movement(regimes: Regimes, quantity: Quantity, width: int) -> Markup:
    """Panels side by side where there is room, one below the other on a phone."""
    kinds = [_Kind(shown(course.regime), [course]) for course in moving(regimes)]
    if held(regimes):
        kinds.append(_Kind(", ".join(shown(course.regime) for course in held(regimes)), held(regimes)))
    broad = width > 500
    most = max(float(quantity.of(course.movement).max()) for course in regimes.courses.values()) or 1.0
    columns = len(kinds) if broad else 1
    room = (width - GAP * columns) / columns
    panels = [
        _panel(
            GAP + place % columns * (room + GAP),
            room - 18,
            TOP + place // columns * (TOP + TALL + BELOW),
            most,
            regimes,
        )
        for place in range(len(kinds))
    ]
    drawn = [
        mark
        for panel, kind in zip(panels, kinds, strict=True)
        for mark in _draw_kind(panel, kind, quantity, regimes)
    ]
    height = panels[-1].lower + BELOW + 10
    label = _spoken(regimes, quantity)
    return tag(
        "svg", *drawn, viewBox=f"0 0 {width} {height:g}", class_="chart " + ("broad" if broad else "narrow"),
        role="img", aria_label=label,
    )  # fmt: skip


def _panel(left: float, room: float, upper: float, most: float, regimes: Regimes) -> Panel:
    return Panel(
        left, left + room, upper, upper + TALL, (0.0, float(regimes.size.epochs)), (0.0, 1.08 * most)
    )


def _draw_kind(panel: Panel, kind: _Kind, quantity: Quantity, regimes: Regimes) -> Iterator[Markup]:
    named = "regime" + (f" regime-{kind.courses[0].regime}" if len(kind.courses) == 1 else " ink")
    yield tag("text", kind.title, x=panel.left, y=panel.upper - 14, class_=named)
    step = next(each for each in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if panel.up[1] / each <= 5)
    ticks = [step * each for each in range(int(panel.up[1] / step) + 1)]
    epochs = epochs_told(regimes.size.epochs, round(panel.right - panel.left), first=0)
    yield from panel.axes(ticks, lambda tick: f"{100 * tick:.0f} %", epochs)
    middle = (panel.left + panel.right) / 2
    yield tag("text", "epochs", x=middle, y=panel.lower + 34, text_anchor="middle")
    for course in kind.courses:
        yield from _curves(panel, course, quantity)
    if kind.courses[0].movement.moves:
        if quantity.named:
            yield from _layers(panel, kind.courses[0], quantity)
    else:
        yield from _stillness(panel, kind)


def _stillness(panel: Panel, kind: _Kind) -> Iterator[Markup]:
    gates = number(sum(course.movement.gates for course in kind.courses) / 1e6, 3)
    looks = kind.courses[0].movement.since_start.shape[1]
    middle, y = (panel.left + panel.right) / 2, panel.lower - 34
    for line, text in enumerate((f"none of {gates} million gates", f"changed in any of {looks} looks")):
        yield tag("text", text, x=middle, y=y + 18 * line, text_anchor="middle", class_="still")


def _curves(panel: Panel, course: Course, quantity: Quantity) -> Iterator[Markup]:
    for layer, shares in enumerate(quantity.of(course.movement), start=1):
        shown_shares = shares.tolist()[quantity.first :]
        curve = [(float(epoch), share) for epoch, share in enumerate(shown_shares, start=quantity.first)]
        yield tag(
            "polyline", points=panel.points(curve), class_=f"curve layer-{layer} regime-{course.regime}"
        )


def _layers(panel: Panel, course: Course, quantity: Quantity) -> Iterator[Markup]:
    """The layers' numbers at the ends of their lines."""
    ends = [panel.y(float(shares[-1])) for shares in quantity.of(course.movement)]
    middle = (len(ends) - 1) / 2
    placed = apart(ends, NAME_ROOM)
    # no number below the axis, where the epochs are
    shift = min(0.0, panel.lower - max(placed)) if middle else 0.0
    for layer, y in enumerate(placed, start=1):
        kind = f"layer regime-{course.regime}"
        yield tag("text", str(layer), x=panel.right + 5, y=y + shift, dy=".35em", class_=kind)


def _spoken(regimes: Regimes, quantity: Quantity) -> str:
    parts = [
        f"{shown(course.regime)}: after the last epoch "
        + ", ".join(
            f"{100 * float(shares[-1]):.1f} percent in layer {layer}"
            for layer, shares in enumerate(quantity.of(course.movement), start=1)
        )
        for course in moving(regimes)
    ]
    if held(regimes):
        parts.append(", ".join(shown(course.regime) for course in held(regimes)) + ": none at any time")
    return f"{quantity.name}. " + "; ".join(parts)
