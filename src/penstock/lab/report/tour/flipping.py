"""The tour's last part: gates flip at instants while the network learns, and the kernel jumps (N Definition
3.3)."""

import json
from dataclasses import dataclass
from typing import Any

from penstock.gates.switching import Switch
from penstock.lab.report.page.blocks import Block, Drawing, Note, Prose, Section
from penstock.lab.report.page.markup import Markup, number, tag
from penstock.lab.report.tour.chart import draw_chart
from penstock.lab.report.tour.network import draw_small, edges_that_carry, spoken
from penstock.lab.report.tour.training import STEPS, Training

__all__ = ["tell_flips"]

M = Markup
BROAD, NARROW = 980, 400
HIDDEN = ("1", "3")
"""The names of the toy's two layers of gates, as a record has them."""


@dataclass(frozen=True)
class Course:
    """The three sub-networks at a moment that the reader chooses; at the start where nothing can be
    chosen."""

    training: Training

    def html(self) -> Markup:
        networks = (self._network(example) for example in range(len(self.training.targets)))
        data = tag(
            "script",
            M(json.dumps(self._data(), separators=(",", ":"))),
            type="application/json",
            class_="course-data",
        )
        return tag("div", self._control(), tag("div", *networks, class_="networks"), data, class_="course")

    def _control(self) -> Markup:
        play = tag("button", "Play", type="button", class_="play")
        moment = tag(
            "input",
            type="range",
            min=0,
            max=STEPS,
            step=0.05,
            value=0,
            id="moment",
            aria_label="The moment of training, in steps",
        )
        said = tag("output", "step 0", for_="moment")
        return tag("div", play, moment, said, class_="control", hidden=True)

    def _network(self, example: int) -> Markup:
        output, target = self.training.outputs[0][example], self.training.targets[example]
        caption = tag(
            "figcaption",
            M(f"<i>x</i><sub>{example + 1}</sub>: <i>ŷ</i> = "),
            tag("span", number(output, 3), class_="value"),
            f", to be {number(target)}",
        )
        return tag(
            "figure",
            draw_small(self.training.stretches[0].gates, example),
            caption,
            class_=f"input-{example + 1}",
        )

    def _data(self) -> dict[str, Any]:
        examples = range(len(self.training.targets))
        return {
            "stretches": [
                {
                    "end": stretch.end,
                    "open": [_open(stretch.gates, example) for example in examples],
                    "edges": [
                        ["-".join(map(str, edge)) for edge in edges_that_carry(stretch.gates, example)]
                        for example in examples
                    ],
                    "spoken": [spoken(stretch.gates, example) for example in examples],
                }
                for stretch in self.training.stretches
            ],
            "losses": [round(loss, 4) for loss in self.training.losses],
            "outputs": [[round(value, 3) for value in values] for values in self.training.outputs],
        }


def _open(gates: list[Any], example: int) -> list[str]:
    """The open gates by name, as the drawing names them."""
    return [
        f"{layer}-{unit}"
        for layer, bits in enumerate(gates, start=1)
        for unit, is_open in enumerate(bits[example].tolist())
        if is_open
    ]


@dataclass(frozen=True)
class Flips:
    """Every flip in a table."""

    flips: list[Switch]

    def html(self) -> Markup:
        heads = ("", "between steps", "input", "gate", "it", "paths")
        head = tag("tr", *(tag("th", text, scope="col") for text in heads))
        rows = (self._row(count, flip) for count, flip in enumerate(self.flips, start=1))
        table = tag("table", tag("thead", head), tag("tbody", *rows), class_="flips")
        return tag("div", table, class_="scroll", tabindex=0, role="region", aria_label="Every flip")

    def _row(self, count: int, flip: Switch) -> Markup:
        cells = (
            str(count),
            f"{flip.lo:.3f}, {flip.hi:.3f}",
            M(f"<i>x</i><sub>{flip.example + 1}</sub>"),
            f"{flip.unit[0] + 1} in layer {HIDDEN.index(flip.layer) + 1}",
            "opens" if flip.opened else "shuts",
            "change" if flip.changes_npf else "stay",
        )
        return tag("tr", *(tag("td", cell) for cell in cells))


def _changing(flips: list[Switch]) -> str:
    """How many flips the definition speaks of: those with which a path comes or goes."""
    changing = sum(bool(flip.changes_npf) for flip in flips)
    if changing == len(flips):
        return f"Each of the {changing} flips changes a path’s feature."
    return f"Of {len(flips)} flips {changing} change a path’s feature; with the others K does not jump."


def tell_flips(training: Training) -> Section:
    widest = max(training.flips, key=lambda flip: flip.hi - flip.lo)
    blocks: list[Block] = [
        Prose(
            [
                f"Now it learns, {STEPS} steps of gradient descent from these weights. Between two "
                f"flips every gate stands still, the "
                "features stand still, and the kernel moves smoothly. At an instant a gate opens or "
                "shuts, paths come or go, and the "
                "kernel jumps.",
            ]
        ),
        Drawing(
            M(draw_chart(training, BROAD) + draw_chart(training, NARROW)),
            [
                M(
                    "<i>K</i>(<i>s</i>, <i>s</i>) of each input, and the loss ½ Σ (<i>ŷ</i> − "
                    "<i>y</i>)², on logarithmic scales. "
                ),
                "A dotted line is an instant at which a gate flips, numbered as in the table.",
            ],
            wide=True,
        ),
        Course(training),
        Flips(training.flips),
        Note(
            [
                f"Definition 3.3 and Proposition 3.2. {_changing(training.flips)} Each is found "
                f"between two places that lie "
                f"1/{round(1 / (widest.hi - widest.lo))} of a step apart.",
            ]
        ),
    ]
    return Section("flipping", "Gates flip while it learns", blocks)
