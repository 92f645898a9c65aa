"""The gates of a few units on a few digits, epoch by epoch: black where open, red where they have changed."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from jaxtyping import Bool

from penstock.lab.report.page.markup import Markup, tag
from penstock.lab.report.regimes import shown
from penstock.lab.report.tour.regimes.training import Course, Regimes

__all__ = ["Film", "runs"]

SHOWN = ("relu", "dlnpf", "flnpf", "frnpf-ii")
"""FRNPF-DI has the gates of FRNPF-II."""
Cells = Bool[np.ndarray, "units examples"]


@dataclass(frozen=True)
class Film:
    """The last look at one layer, where nothing can be chosen."""

    regimes: Regimes

    def html(self) -> Markup:
        data = tag(
            "script",
            Markup(json.dumps(self._data(), separators=(",", ":"))),
            type="application/json",
            class_="film-data",
        )
        pictures = (self._picture(self.regimes.courses[regime]) for regime in SHOWN)
        return tag(
            "div", self._control(), self._key(), tag("div", *pictures, class_="reels"), data, class_="film"
        )

    @property
    def _layer(self) -> int:
        """The one in the middle, shown first."""
        return self.regimes.layers // 2

    def _control(self) -> Markup:
        last = self.regimes.size.epochs
        play = tag("button", "Play", type="button", class_="film-play")
        epoch = tag(
            "input", type="range", min=0, max=last, step=1, value=last, id="epoch", aria_label="The epoch"
        )
        said = tag("output", f"epoch {last}", for_="epoch")
        layers = tag(
            "fieldset",
            tag("legend", "The layer"),
            *(self._choice(layer) for layer in range(self.regimes.layers)),
            class_="choices",
        )
        return tag(
            "div",
            layers,
            tag("div", play, epoch, said, class_="film-time"),
            class_="film-control",
            hidden=True,
        )

    def _choice(self, layer: int) -> Markup:
        name = f"layer-{layer + 1}"
        chosen = layer == self._layer
        button = tag("input", type="radio", name="layer", id=name, value=layer, checked=chosen)
        return tag("span", button, tag("label", str(layer + 1), for_=name))

    def _key(self) -> Markup:
        words = (("kept", "open, as at the start"), ("opened", "opened since"), ("shut", "shut since"))
        return tag("p", *(tag("span", text, class_=f"key {kind}") for kind, text in words), class_="film-key")

    def _picture(self, course: Course) -> Markup:
        film = course.movement.film[:, self._layer]
        looks, units, examples = film.shape
        now, start = film[-1], film[0]
        paths = {"kept": now & start, "opened": now & ~start, "shut": start & ~now}
        drawn = [tag("path", d=runs(cells), class_=kind) for kind, cells in paths.items()]
        each = self.regimes.size.of_each_class
        cuts = [
            tag("line", x1=column, x2=column, y1=0, y2=units, class_="cut")
            for column in range(each, examples, each)
        ]
        told = f"{100 * float((now != start).mean()):.1f} %"
        caption = tag(
            "figcaption",
            tag("b", shown(course.regime)),
            ": ",
            tag("span", told, class_="changed"),
            " changed",
        )
        picture = tag(
            "svg",
            *drawn,
            *cuts,
            viewBox=f"0 0 {examples} {units}",
            preserveAspectRatio="none",
            role="img",
            class_="reel",
            data_name=shown(course.regime),
            aria_label=spoken(shown(course.regime), self._layer, looks - 1, now, start),
        )
        classes = tag(
            "div",
            *(tag("span", name) for name in self.regimes.classes),
            class_="reel-classes",
            aria_hidden="true",
        )
        return tag("figure", caption, picture, classes, class_=f"regime-{course.regime}")

    def _data(self) -> dict[str, Any]:
        return {
            "units": self.regimes.size.units,
            "reels": [_reel(self.regimes.courses[regime].movement.film) for regime in SHOWN],
        }


def spoken(name: str, layer: int, epoch: int, now: Cells, start: Cells) -> str:
    """As the page's script says it too."""
    return (
        f"{name}, layer {layer + 1}, epoch {epoch}: {100 * float(now.mean()):.1f} percent of these gates are "
        f"open, {100 * float((now != start).mean()):.1f} percent changed since the start"
    )


def _reel(film: Bool[np.ndarray, "looks layers units examples"]) -> list[str]:
    """A layer after the other, all its looks as bits; one look where all are alike."""
    kept = film[:1] if (film == film[:1]).all() else film
    return [
        base64.b64encode(np.packbits(kept[:, layer].reshape(-1)).tobytes()).decode()
        for layer in range(film.shape[1])
    ]


def runs(cells: Cells) -> str:
    """The cells as a path: a rectangle for every run of them in a row."""
    return "".join(
        f"M{first} {row}h{long}v1h-{long}z"
        for row, values in enumerate(cells.tolist())
        for first, long in _stretches(values)
    )


def _stretches(values: list[bool]) -> Iterator[tuple[int, int]]:
    at = 0
    for value, group in groupby(values):
        long = len(list(group))
        if value:
            yield at, long
        at += long
