"""The section of the page: what was trained, how it went, and how its gates moved meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from penstock.lab.claims.table_2 import LEARNT, RANDOM
from penstock.lab.report.page.blocks import Block, Drawing, Note, Prose, Section
from penstock.lab.report.page.markup import Markup, join, tag
from penstock.lab.report.regimes import shown
from penstock.lab.report.tour.regimes.accuracy import draw_accuracy
from penstock.lab.report.tour.regimes.film import Film
from penstock.lab.report.tour.regimes.final import draw_final, mean_and_spread
from penstock.lab.report.tour.regimes.movement import Quantity, draw_movement, held, moving
from penstock.lab.report.tour.regimes.training import BATCH, RATE, Course, Regimes

__all__ = ["in_a_line", "tell_regimes"]

M = Markup
BROAD, NARROW = 980, 400
GATES = {
    "frnpf-ii": "random and fixed; the values start from weights of their own.",
    "frnpf-di": "the same random gates; the values start from the weights that made the gates.",
    "dlnpf": "soft, and learnt by a network of their own together with the values.",
    "flnpf": "fixed; they are those of the ReLU network when its training has ended.",
    "relu": "its own: an ordinary ReLU network.",
}
SINCE_START = Quantity(
    "Share of gates that differ from the start", lambda movement: movement.since_start, first=0, named=True
)
SINCE_LOOK = Quantity(
    "Share of gates that flipped within an epoch", lambda movement: movement.since_look, first=1, named=False
)


def in_a_line(regimes: Regimes) -> str:
    """The five means, for who waits at the terminal."""
    return ", ".join(
        f"{shown(name)} {mean_and_spread(each)[0]:.1f}" for name, each in regimes.courses.items()
    )


def tell_regimes(regimes: Regimes) -> Section:
    blocks: list[Block] = [_beginning(regimes), _Kinds(), _Beside(regimes), _caveat(regimes)]
    blocks += [_moving(regimes), *_movements(regimes), _Shares(list(regimes.courses.values()))]
    blocks += [_filmed(regimes), Film(regimes)]
    return Section("regimes", "Where gates come from, and what that is worth", blocks)


def _beginning(regimes: Regimes) -> Block:
    size = regimes.size
    return Prose(
        [
            f"Now a network with something to learn: the paper’s FC, {regimes.layers} hidden layers of "
            f"{size.width}, on {regimes.examples:,} small pictures of digits. A deep gated network takes it "
            "apart: one network makes gates, a second one of the same shape (the values) learns with them. "
            "Five regimes differ in where the gates come from:"
        ]
    )


@dataclass(frozen=True)
class _Kinds:
    """What each regime is."""

    def html(self) -> Markup:
        rows = (
            tag("div", tag("dt", shown(name)), tag("dd", text), class_=f"regime-{name}")
            for name, text in GATES.items()
        )
        return tag("dl", *rows, class_="kinds")


@dataclass(frozen=True)
class _Beside:
    """Accuracy on its way, and where it ends."""

    regimes: Regimes

    def html(self) -> Markup:
        seeds = len(self.regimes.size.seeds)
        way = Drawing(
            M(draw_accuracy(self.regimes, 600) + draw_accuracy(self.regimes, NARROW)),
            [
                f"The line is the mean over {seeds} seeds, the band goes from the worst to the best. The "
                "scale widens towards 100 %: mistakes fall by the same factor over the same height."
            ],
        )
        end = Drawing(
            draw_final(self.regimes),
            [
                "A dot is a seed, the bar their mean; below it mean ± standard deviation. "
                + _order(self.regimes)
            ],
        )
        return tag("div", way.html(), end.html(), class_="beside")


def _order(regimes: Regimes) -> str:
    """What the picture shows, read off the numbers."""
    means = {name: mean_and_spread(course)[0] for name, course in regimes.courses.items()}
    if min(means[name] for name in LEARNT) > max(means[name] for name in RANDOM):
        return "Every regime with learnt gates ends above both with random ones."
    names = [shown(name) for name in sorted(means, key=lambda name: -means[name])]
    return f"From the best to the worst: {', '.join(names)}."


def _caveat(regimes: Regimes) -> Block:
    size = regimes.size
    worst = min(float(course.train.mean()) for course in regimes.courses.values())
    return Note(
        [
            f"scikit-learn’s digits, 8 × 8 pixels; {size.epochs} epochs, {len(size.seeds)} seeds, Adam with "
            f"rate {RATE:g}, batches of {BATCH}; tested on {regimes.tested} digits, so one more mistake is "
            f"{100 / regimes.tested:.2f} points. On the digits trained on, every regime gets at least "
            f"{floor(1000 * worst) / 10:g} %. The columns stand in the order of the paper’s Table 2, whose "
            "numbers are MNIST’s and not to be compared with these; ",
            M("<code>penstock reproduce N16</code>"),
            " re-derives them.",
        ]
    )


def _moving(regimes: Regimes) -> Block:
    names = " and ".join(shown(course.regime) for course in moving(regimes))
    text = f"While they learn, the gates of {names} move." if names else "No gate moved while they learnt."
    if held(regimes):
        text += (
            f" Those of {', '.join(shown(course.regime) for course in held(regimes))} stand still: "
            "all that is learnt there, the weights learn."
        )
    return Prose([text])


def _movements(regimes: Regimes) -> Sequence[Block]:
    said = {
        SINCE_START: [
            "The share of gates that are not as they were before training. A line is a layer, numbered from "
            "the input. There is a gate for every unit, test digit and seed; a soft one counts as open "
            "where the unit that makes it is positive."
        ],
        SINCE_LOOK: ["The share that changed from one epoch to the next. " + _settling(regimes)],
    }
    return [
        Drawing(
            join(
                (
                    tag("h3", quantity.name),
                    draw_movement(regimes, quantity, BROAD),
                    draw_movement(regimes, quantity, NARROW),
                )
            ),
            caption,
            wide=True,
        )
        for quantity, caption in said.items()
    ]


def _settling(regimes: Regimes) -> str:
    """How the first epoch compares with the last, over all layers alike."""
    told = [
        f"{shown(course.regime)}: {100 * float(course.movement.since_look[:, 1].mean()):.1f} % in the first "
        f"epoch, {100 * float(course.movement.since_look[:, -1].mean()):.1f} % in the last"
        for course in moving(regimes)
    ]
    return "; ".join(told) + "." if told else ""


@dataclass(frozen=True)
class _Shares:
    """Open gates and dead units, before and after."""

    courses: Sequence[Course]

    def html(self) -> Markup:
        heads = ("", "open gates", "dead units", "changed")
        head = tag("tr", *(tag("th", text, scope="col") for text in heads))
        rows = (self._row(course) for course in self.courses)
        table = tag("table", tag("thead", head), tag("tbody", *rows), class_="shares")
        label = "Open gates and dead units of each regime before and after training"
        return tag("div", table, class_="scroll", tabindex=0, role="region", aria_label=label)

    def _row(self, course: Course) -> Markup:
        movement = course.movement

        def both(shares: Sequence[float]) -> str:
            before, after = (f"{100 * share:.1f} %" for share in shares)
            return before if before == after else f"{before} → {after}"

        cells = (
            both(movement.open[:, [0, -1]].mean(axis=0).tolist()),
            both(movement.dead[:, [0, -1]].mean(axis=0).tolist()),
            f"{100 * float(movement.since_start[:, -1].mean()):.1f} %",
        )
        name = tag("th", shown(course.regime), scope="row", class_=f"regime-{course.regime}")
        return tag("tr", name, *(tag("td", cell) for cell in cells))


def _filmed(regimes: Regimes) -> Block:
    size = regimes.size
    return Prose(
        [
            f"And one by one, in the network of the first seed: the first {size.units} units of a layer from "
            f"top to bottom, {size.of_each_class} test digits of each class from left to right. Move through "
            "the epochs, or let them play. FLNPF has all along the gates with which ReLU ends."
        ]
    )
