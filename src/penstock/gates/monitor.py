"""Watching gates while a network learns: which units are dead, how many gates are open, how many have
flipped.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor, nn
from torch.utils.data import DataLoader

from penstock.errors import PenstockError
from penstock.gates.curves import draw_history
from penstock.gates.record import GateRecord
from penstock.gates.recording import capture
from penstock.model import check_module, left_as_found, whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Monitor"]

_KEYS = ("step", "seconds", "open", "dead", "flipped", "flipped_since_start")


@dataclass(frozen=True)
class _Look:
    """What one look saw; the counts are by layer."""

    step: int
    seconds: float
    open: dict[str, float]
    dead: dict[str, int]
    flipped: dict[str, int]
    flipped_since_start: dict[str, int]
    also: dict[str, np.ndarray]


class Monitor:
    """Looks at a model's gates on a few probe inputs, first when it is made and then at every `every`-th
    step.

    Call `step()` once after each step of the optimizer, in any training loop. The model and the training are
    left alone: a run with a monitor is the run without it, to the last bit. A look is taken in evaluation
    mode, so that BatchNorm and dropout neither move nor matter.

    `also` adds measurements of your own, each a function of the model and the probe that returns a number or
    an array. They too see the model in evaluation mode, and whatever they do to it is undone.

    Smooth gates count as open above 0.5, which is where SiLU's and GELU's pre-activation turns positive.

    >>> norm = lambda model, x: model[0].weight.norm()
    >>> monitor = Monitor(model, x, every=1, also={"norm": norm})
    >>> for batch, target in loader:
    ...     optimizer.zero_grad()
    ...     loss_of(model(batch), target).backward()
    ...     optimizer.step()
    ...     monitor.step()
    >>> monitor.history["step"]
    array([0, 1, 2])
    >>> monitor.history["norm"].shape, monitor.history["dead"]["1"].shape
    ((3,), (3,))
    >>> monitor.plot().savefig("gates.png")
    """

    def __init__(
        self,
        model: nn.Module,
        probe: Tensor | np.ndarray | DataLoader,
        every: int = 100,
        also: Mapping[str, Callable[[nn.Module, Tensor], Any]] | None = None,
    ):
        check_module(model)
        if not isinstance(every, Integral) or every < 1:
            raise PenstockError(
                f"a monitor looks every so many steps, a whole number and at least 1, not every {every!r}"
            )
        self.model, self.every, self.also = model, every, _measurements(also)
        with left_as_found(model):
            # what the user does to the probe later must not look like training
            self.probe = whole(model, probe).detach().clone()
        self.steps = 0
        """How many steps have been taken."""
        self._looks: list[_Look] = []
        self._began = time.perf_counter()
        self.first = self.last = self._capture()
        """The records of the first look and of the last."""
        self._add(self.first, self._began)

    def step(self) -> None:
        """Counts a step of the training, and looks if its turn has come."""
        self.steps += 1
        if self.steps % self.every == 0:
            self.look()

    def look(self) -> None:
        """Looks now, whatever the step."""
        began = time.perf_counter()
        self._add(self._capture(), began)

    @property
    def history(self) -> dict[str, Any]:
        """All looks as NumPy arrays with one entry a look.

        * `"step"`: after how many steps; `"seconds"`: what the look cost;
        * by layer, a dict of arrays: `"open"`, the share of gates open; `"dead"`, the number of units that no
          probe input opens; `"flipped"` and `"flipped_since_start"`, the number of gates, over all probe
          inputs, that differ from the look before and from the first;
        * an array for every name in `also`, with a look a row.
        """
        looks = self._looks
        history: dict[str, Any] = {
            "step": np.array([look.step for look in looks]),
            "seconds": np.array([look.seconds for look in looks]),
        }
        for key in ("open", "dead", "flipped", "flipped_since_start"):
            history[key] = {
                name: np.array([getattr(look, key)[name] for look in looks]) for name in self.first
            }
        return history | {name: _stacked([look.also[name] for look in looks]) for name in self.also}

    @property
    def cost(self) -> float:
        """The share of the time, since the monitor was made, that its looks have taken."""
        return sum(look.seconds for look in self._looks) / (time.perf_counter() - self._began)

    def plot(self) -> "Figure":
        """The history as a picture: shares by layer, from dark (early) to light, then what `also` gave."""
        units = {name: layer.gates for name, layer in self.first.items()}
        gates = {name: count * self.first.examples for name, count in units.items()}
        return draw_history(self.history, units, gates, list(self.also))

    def __repr__(self) -> str:
        seconds = sum(look.seconds for look in self._looks)
        return (
            f"Monitor of {len(self.first)} layers on {self.first.examples} inputs: {len(self._looks)} looks "
            f"in {self.steps} steps, {seconds:.2f} s, {self.cost:.1%} of the time since it was made"
        )

    def _add(self, record: GateRecord, began: float) -> None:
        also = self._measure()
        look = _Look(
            step=self.steps,
            open=record.fraction_open,
            dead={name: int(dead.sum()) for name, dead in record.dead.items()},
            flipped=_differing(record, self.last),
            flipped_since_start=_differing(record, self.first),
            also=also,
            seconds=time.perf_counter() - began,
        )
        self.last = record
        self._looks.append(look)

    def _capture(self) -> GateRecord:
        with left_as_found(self.model):
            self.model.eval()
            record = capture(self.model, self.probe)
        return GateRecord(layer if layer.kind.hard else layer.active(0.5) for layer in record.values())

    def _measure(self) -> dict[str, np.ndarray]:
        measured = {}
        for name, function in self.also.items():
            with left_as_found(self.model):
                self.model.eval()
                value = function(self.model, self.probe)
            measured[name] = (
                value.detach().cpu().numpy().copy() if isinstance(value, Tensor) else np.array(value)
            )
        return measured


def _measurements(also: Any) -> dict[str, Callable[[nn.Module, Tensor], Any]]:
    if also is not None and not isinstance(also, Mapping):
        raise PenstockError(
            f"also maps names to functions of (model, probe), and is no {type(also).__name__}; for example "
            'also={"norm": lambda model, x: model.weight.norm()}'
        )
    for name, function in (also or {}).items():
        if name in _KEYS:
            raise PenstockError(
                f"a measurement cannot be called {name!r}, as the history has one of that name; rename it"
            )
        if not callable(function):
            raise PenstockError(
                f"the measurement {name!r} is a {type(function).__name__}; give a function of (model, probe)"
            )
    return dict(also or {})


def _differing(record: GateRecord, before: GateRecord) -> dict[str, int]:
    return {name: int(count.sum()) for name, count in record.hamming(before).items()}


def _stacked(values: list[np.ndarray]) -> np.ndarray:
    """One row a look; where their shapes differ, an array of arrays."""
    if len({value.shape for value in values}) == 1:
        return np.stack(values)
    ragged = np.empty(len(values), dtype=object)
    ragged[:] = values
    return ragged
