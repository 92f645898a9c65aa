"""The data set whose gates are followed, and the one way in which the model is asked about it: with weights put in the
place of its own, by `torch.func.functional_call`, in evaluation mode."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.func import functional_call

from penstock.errors import PenstockError
from penstock.gates.along.line import Weights, working_dtype
from penstock.gates.dependence import Dependence
from penstock.gates.kind import Kind
from penstock.gates.recording import capture, eager
from penstock.gates.rows import Rows, find_rows
from penstock.gates.watch import Watch
from penstock.model import call, check, left_as_found, whole

__all__ = ["Layer", "Probe", "Visitor"]


@dataclass(frozen=True)
class Layer:
    """One call that opens hard gates."""

    number: int
    """Its place among the layers, in the order of the calls."""
    name: str
    rows: Rows
    shape: tuple[int, ...]
    """The gates of one example."""

    @property
    def gates(self) -> int:
        return prod(self.shape)

    def unit(self, gate: int) -> tuple[int, ...]:
        """The index of a gate, counted in the flattened layer."""
        return tuple(int(index) for index in np.unravel_index(gate, self.shape))


class Visitor:
    """What is done with each layer while the model runs."""

    def see(self, layer: Layer, kind: Kind, q: Tensor, n: int) -> Tensor | None:
        """q is as the call was given it, for n examples; what is returned, if anything, replaces the call's output."""
        raise NotImplementedError

    def pass_by(self, name: str, kind: Kind, q: Tensor, n: int) -> Tensor | None:
        """The same for a call whose gates are smooth."""


class Probe:
    """A model and the examples that are followed. Nothing of either is changed."""

    def __init__(self, model: nn.Module, x: Tensor | np.ndarray):
        self.model = model
        with self.asking():
            check(model)
            self.x: Float[Tensor, "n *shape"] = whole(model, x)
            capture(model, self.x[:2])  # refuses what a watch cannot see
            first = _First(model)
            with first.dependence, first:
                call(model, self.x[:4].clone())
            rows = find_rows(model, self.x[:4], first.shapes)
        self.x = self.x.to(working_dtype(self.x.dtype))
        self._signals = tuple(first.signals)
        self.layers = _layers(first, rows, len(self.x[:4]))
        self._by_name = {layer.name: layer for layer in self.layers}
        self._smooth = frozenset(rows) - self._by_name.keys()
        if not self.layers:
            raise PenstockError(
                "the gates of this model are smooth and never flip; use penstock.Monitor to follow how they move"
            )

    def __len__(self) -> int:
        return len(self.x)

    @property
    def gates(self) -> int:
        """The number of hard gates of one example."""
        return sum(layer.gates for layer in self.layers)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Inside, the model is in evaluation mode and may be run; afterwards it is as it was found."""
        with left_as_found(self.model), torch.no_grad(), eager(), _without_autocast():
            self.model.eval()
            yield

    def visit(self, weights: Weights, examples: Int64[Tensor, " k"] | slice, visitor: Visitor) -> Tensor:
        """Runs some of the examples with these weights, and shows the visitor every layer. To be called while `asking`."""
        return self.run(weights, self.x[examples].clone(), visitor)

    def run(self, weights: Weights, x: Float[Tensor, "n *shape"], visitor: Visitor) -> Tensor:
        """Runs any inputs so. Returns what the model returns."""
        passing = _Passing(self.model, self._signals, lambda *seen: self._show(visitor, len(x), *seen))
        with passing:
            y = functional_call(self.model, weights, (x,))
        if passing.calls != len(self._by_name) + len(self._smooth):
            raise PenstockError(
                f"the model made {passing.calls} ReLU-like calls where it had made {len(self._by_name) + len(self._smooth)}, "
                "because its control flow depends on the data or on its weights; follow a model that always makes the same calls"
            )
        return y

    def _show(self, visitor: Visitor, n: int, name: str, kind: Kind, q: Tensor) -> Tensor | None:
        if name in self._smooth:
            return visitor.pass_by(name, kind, q, n)
        layer = self._by_name.get(name)
        if layer is None or not layer.rows.fit(tuple(q.shape), n):
            raise PenstockError(
                f"{name} was not called when the examples were first seen, or was called with another shape, because the "
                "model's control flow depends on the data or on its weights; follow a model that always makes the same calls"
            )
        return visitor.see(layer, kind, q, n)


def _layers(first: "_First", rows: dict[str, Rows], n: int) -> tuple[Layer, ...]:
    hard = [name for name, kind in first.kinds.items() if kind.hard]
    return tuple(
        Layer(number, name, rows[name], tuple(rows[name].first(first.kinds[name].read(first.seen[name]), n).shape[1:]))
        for number, name in enumerate(hard)
    )


class _First(Watch):
    """The first run: which calls there are, and which of them are made on what depends on the input."""

    def __init__(self, model: nn.Module):
        super().__init__(model)
        self.dependence = Dependence(self, model)
        self.signals: list[bool] = []
        self.kinds: dict[str, Kind] = {}
        self.seen: dict[str, Tensor] = {}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: tuple(q.shape) for name, q in self.seen.items()}

    def is_signal(self, q: Tensor) -> bool:
        self.signals.append(self.dependence.carried_by(q))
        return self.signals[-1]

    def on_call(self, name: str, kind: Kind, q: Tensor) -> None:
        self.kinds[name], self.seen[name] = kind, q.clone()


class _Passing(Watch):
    """A later run, which follows no storage any more: the calls on weights alone are the same ones again."""

    def __init__(
        self, model: nn.Module, signals: tuple[bool, ...], show: Callable[[str, Kind, Tensor], Tensor | None]
    ):
        super().__init__(model)
        self.signals = iter(signals)
        self.show = show
        self.calls = 0

    def is_signal(self, q: Tensor) -> bool:
        return next(self.signals, True)

    def on_call(self, name: str, kind: Kind, q: Tensor) -> Tensor | None:
        self.calls += 1
        return self.show(name, kind, q)


@contextmanager
def _without_autocast() -> Iterator[None]:
    """Mixed precision is the reader's choice for training; gates are looked at in full."""
    with torch.autocast("cpu", enabled=False), torch.autocast("cuda", enabled=False):
        yield
