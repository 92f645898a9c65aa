"""`Switches`: the instants of training at which a gate flips (N Definition 3.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from torch import Tensor, nn

from penstock.errors import PenstockError
from penstock.gates.along.finding import find, pilot
from penstock.gates.along.line import Line, weights_of
from penstock.gates.along.overview import look_over
from penstock.gates.along.probe import Probe
from penstock.gates.along.reach import Reach
from penstock.gates.along.search import Flips

__all__ = ["Switch", "Switches"]

# How many flips a printed table shows.
_SHOWN = 20
# Polynomials of a higher degree cannot be told from their values in float32.
_MOST_INNER = 8


@dataclass(frozen=True, slots=True)
class Switch:
    """One gate that flips for one example, at some time above `lo` and up to `hi`."""

    lo: float
    """In steps: 12.25 is a quarter of the way from the weights after 12 steps to those after 13."""
    hi: float
    layer: str
    """As in a `GateRecord`."""
    unit: tuple[int, ...]
    """Its index in the layer; in max-pooling, that of the output and the place in its window."""
    example: int
    opened: bool
    """Whether the gate opened; otherwise it closed."""
    changes_npf: bool | None
    """Whether any neural path feature of the example changes with it (N Definition 2.1); None where the
    module does not say what a path is."""

    @property
    def step(self) -> int:
        """The step in which it flipped, counted from 0."""
        return int(self.lo)

    @property
    def direction(self) -> str:
        return "opened" if self.opened else "closed"


class Switches:
    """Follows every hard gate of a data set through any training loop, and finds the instants at which one
    flips (N Definition 3.3).

    >>> switches = Switches(model, x)
    >>> for batch, target in loader:
    ...     optimizer.zero_grad()
    ...     loss_of(model(batch), target).backward()
    ...     optimizer.step()
    ...     flips = switches.step()
    >>> print(switches)
    Switches(2 steps, ...

    Between two calls of `step` the weights are taken to move on the straight line from what they were to
    what they are; so do running statistics. Each flip is bracketed between two of `parts` + 1 places on
    that line, by running the model with the weights of both, and N's switching instants T_i are the
    brackets of those with `changes_npf`. The model is asked in evaluation mode and left as it was found;
    training goes on bit for bit as it would without.

    **What is found** is what looking at all those places would find, also a gate that flips and flips back
    within a step. With the gates before it held, a pre-activation is a polynomial of the place on the line,
    of degree at most the number of weight layers up to it; `inner` looks inside a stretch determine it up
    to degree `inner` + 1. So with `inner=2` nothing is missed for gates behind up to three weight layers,
    and behind more of them for steps so short that the fourth order does not show. (Running statistics that
    move, and soft-max, make it smooth rather than polynomial.) What is open or shut for less than 1/`parts`
    of a step can be missed. Flips between the same two places have the same bracket, in no known order.

    **What it costs.** Of more than 16 examples only a pilot of about √n is looked at inside a step on which
    nothing flips, and those that could have a gate that flips and flips back: where all units are further
    from zero than `margin` times the bend of the pilot's pre-activations, an example is taken not to
    (`margin=math.inf` looks at all). So such a step costs little more than one pass over the probe (`make
    bench` measures it). With a hundred thousand gates an example, some unit is always near zero, and it is
    `inner` + 3 passes. Each flip costs about 2·`inner` + 2 runs on its example alone, each with weights of
    its own, and some more in float64 to tell whether a feature changes. Kept are one bit a gate, the
    pilot's pre-activations, and three copies of the weights (one of them in float64).

    Smooth gates (SiLU, GELU) do not flip and are left out. Half precision is looked at in float32. `probe`
    is a tensor or an array with one row an example.
    """

    def __init__(
        self,
        model: nn.Module,
        probe: Tensor | np.ndarray,
        *,
        inner: int = 2,
        parts: int = 1024,
        margin: float | int = 8.0,
    ):
        _check_numbers(inner, parts, margin)
        self.inner, self.parts, self.margin = inner, parts, margin
        self.found: list[Switch] = []
        """Every flip up to now, in the order of time."""
        self.steps = 0
        """How many steps have been followed."""
        self._model = model
        self._probe = Probe(model, probe)
        self._reach = Reach(self._probe)
        self._numbers = {layer.name: layer.number for layer in self._probe.layers}
        self._weights = weights_of(model)
        self._pilot = pilot(self._probe)
        with self._probe.asking():
            self._overview = look_over(self._probe, self._weights, self._pilot)

    def step(self) -> list[Switch]:
        """To be called after each step of the optimizer: the flips since the last call."""
        new: list[Switch] = []
        line = Line(self._weights, weights_of(self._model), self.parts)
        if line.moves:
            with self._probe.asking():
                after = look_over(self._probe, line.end, self._pilot)
                flips = find(self._probe, line, self._overview, after, inner=self.inner, margin=self.margin)
                new = sorted(self._told(flips, line), key=self._order)
            self._weights, self._overview = line.end, after
        self.steps += 1
        self.found += new
        return new

    def as_arrays(self) -> dict[str, np.ndarray]:
        """`found` as columns, one row a flip, as a data frame takes them; `changes_npf` is 1, 0, or -1 where
        it is unknown.

        >>> sorted(Switches(model, x).as_arrays())
        ['changes_npf', 'example', 'hi', 'layer', 'lo', 'opened', 'unit']
        """
        units = np.empty(len(self.found), dtype=object)
        units[:] = [switch.unit for switch in self.found]
        known = {True: 1, False: 0, None: -1}
        return {
            "lo": np.array([switch.lo for switch in self.found], dtype=float),
            "hi": np.array([switch.hi for switch in self.found], dtype=float),
            "layer": np.array([switch.layer for switch in self.found], dtype=str),
            "unit": units,
            "example": np.array([switch.example for switch in self.found], dtype=int),
            "opened": np.array([switch.opened for switch in self.found], dtype=bool),
            "changes_npf": np.array([known[switch.changes_npf] for switch in self.found], dtype=int),
        }

    def _told(self, flips: Flips, line: Line) -> Iterator[Switch]:
        changed = self._reach.changes(flips, line)
        changes = [None] * len(flips) if changed is None else changed.tolist()
        columns = (flips.index, flips.layer, flips.gate, flips.example, flips.opened)
        for index, number, gate, example, opened, change in zip(
            *(c.tolist() for c in columns), changes, strict=True
        ):
            layer = self._probe.layers[number]
            lo, hi = (self.steps + place / self.parts for place in (index, index + 1))
            yield Switch(lo, hi, layer.name, layer.unit(gate), example, opened, change)

    def _order(self, switch: Switch) -> tuple[float, int, tuple[int, ...], int]:
        return switch.lo, self._numbers[switch.layer], switch.unit, switch.example

    def __repr__(self) -> str:
        changing = sum(switch.changes_npf is True for switch in self.found)
        unknown = sum(switch.changes_npf is None for switch in self.found)
        told = "nobody knows how many" if unknown else f"{changing}"
        counted = f"{self.steps} steps, {len(self.found)} flips"
        return f"Switches({counted}, {told} of which change a neural path feature)"

    def __str__(self) -> str:
        shown = self.found[-_SHOWN:]
        if not shown:
            return repr(self)
        above = [f"the last {len(shown)} of {len(self.found)}"] if len(shown) < len(self.found) else []
        return "\n".join([repr(self), *above, *_table(shown)])


def _table(switches: list[Switch]) -> Iterator[str]:
    words = {True: "yes", False: "no", None: "unknown"}
    rows = [("time", "layer", "unit", "example", "", "changes NPF")]
    for one in switches:
        unit = ", ".join(map(str, one.unit))
        rows.append(
            (f"{one.hi:.4f}", one.layer, unit, str(one.example), one.direction, words[one.changes_npf])
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _check_numbers(inner: int, parts: int, margin: float | int) -> None:
    if not 0 <= inner <= _MOST_INNER:
        raise PenstockError(
            f"inner is the number of looks inside a stretch, from 0 to {_MOST_INNER}, not {inner}"
        )
    if parts < 1:
        raise PenstockError(f"parts says into how many parts a step is cut, at least 1, not {parts}")
    if not margin >= 0:
        raise PenstockError(f"margin is how many bends away from zero is safe, at least 0, not {margin}")
