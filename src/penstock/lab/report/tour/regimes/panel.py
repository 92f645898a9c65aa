"""One panel of a chart: where values stand, and the axes around them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from penstock.lab.report.page.markup import Markup, tag

__all__ = ["Panel", "apart"]


def _as_it_is(value: float) -> float:
    return value


@dataclass(frozen=True)
class Panel:
    """From `left` to `right` and from `upper` down to `lower` in the drawing's own units."""

    left: float
    right: float
    upper: float
    lower: float
    across: tuple[float, float]
    """The values at the left edge and at the right one."""
    up: tuple[float, float]
    """The values at the lower edge and at the upper one."""
    bend: Callable[[float], float] = _as_it_is
    """How heights are spaced: a logarithm, for example."""

    def x(self, value: float) -> float:
        first, last = self.across
        return self.left + (value - first) / (last - first) * (self.right - self.left)

    def y(self, value: float) -> float:
        least, most = (self.bend(each) for each in self.up)
        return self.lower - (self.bend(value) - least) / (most - least) * (self.lower - self.upper)

    def points(self, curve: Iterable[tuple[float, float]]) -> str:
        return " ".join(f"{self.x(across):.1f},{self.y(height):.1f}" for across, height in curve)

    def axes(
        self, heights: Iterable[float], words: Callable[[float], str], epochs: Iterable[int]
    ) -> Iterator[Markup]:
        """A line across for each height, and the epochs below."""
        for height in heights:
            y = self.y(height)
            yield tag("line", x1=self.left, x2=self.right, y1=y, y2=y, class_="grid")
            yield tag("text", words(height), x=self.left - 7, y=y, dy=".35em", text_anchor="end")
        yield tag("line", x1=self.left, x2=self.right, y1=self.lower, y2=self.lower, class_="base")
        for epoch in epochs:
            yield tag("text", str(epoch), x=self.x(float(epoch)), y=self.lower + 17, text_anchor="middle")


def apart(heights: Sequence[float], room: float) -> list[float]:
    """The same heights, moved as little as keeps them in order with this much room between two."""
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    groups: list[tuple[float, list[int]]] = []
    for place in order:
        middle, members = heights[place], [place]
        # a label pushed onto the one above takes it along, and the two settle around their common middle
        while groups and middle - groups[-1][0] < room * (len(members) + len(groups[-1][1])) / 2:
            other, earlier = groups.pop()
            middle = (middle * len(members) + other * len(earlier)) / (len(members) + len(earlier))
            members = earlier + members
        groups.append((middle, members))
    placed = dict[int, float]()
    for middle, members in groups:
        for number, place in enumerate(members):
            placed[place] = middle + room * (number - (len(members) - 1) / 2)
    return [placed[place] for place in range(len(heights))]
