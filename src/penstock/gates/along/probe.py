"""The data set whose gates are followed, and the one way in which the model is asked about it: with weights
put in the place of its own, by `torch.func.functional_call`, in evaluation mode."""

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
from penstock.gates.following import Following
from penstock.gates.given import Given
from penstock.gates.kind import Kind
from penstock.gates.recording import capture
from penstock.gates.rows import Rows, find_rows
from penstock.gates.watch import Watch
from penstock.model import check, check_module, left_as_found, whole
from penstock.model.calling import eager, misfits_told

__all__ = ["Layer", "Probe", "Visitor"]

# As many examples as show which calls there are and how each counts its examples.
_FEW = 4


@dataclass(frozen=True)
class Layer:
    """One call that opens gates."""

    number: int
    """Its place among the layers of hard gates, in the order of the calls; -1 where gates are smooth, or
    given by another network.
    """
    name: str
    kind: Kind
    """As the call was first made: a slope or a bound may change, what it is does not."""
    rows: Rows
    shape: tuple[int, ...]
    """The gates of one example."""

    @property
    def slots(self) -> int:
        """How many entries a window has, in max-pooling."""
        return self.shape[-1]

    @property
    def gates(self) -> int:
        return prod(self.shape)

    def unit(self, gate: int) -> tuple[int, ...]:
        """The index of a gate that is counted in the flattened layer."""
        return tuple(int(index) for index in np.unravel_index(gate, self.shape))


class Visitor:
    """What is done with each call while the model runs."""

    def see(self, layer: Layer, kind: Kind, q: Tensor, n: int) -> Tensor | None:
        """q is as the call was given it, for n examples; what is returned, if anything, replaces the call's
        output.
        """
        raise NotImplementedError

    def pass_by(self, layer: Layer, kind: Kind, q: Tensor, n: int) -> Tensor | None:
        """The same for a call whose gates are smooth, or given."""


class Probe:
    """A model and the examples that are followed. Nothing of either is changed."""

    def __init__(self, model: nn.Module, x: Tensor | np.ndarray):
        check_module(model)
        self.model = model
        with self.asking():
            check(model)
            given = whole(model, x)
            self.few = given[:_FEW].detach()
            """Some of the examples, in the model's own dtype."""
            self._first = _First(model)
            capture(model, self.few)  # refuses what a watch cannot see
            self._first.run(self.few)
            rows = find_rows(model, self.few, {name: tuple(q.shape) for name, q in self._first.seen.items()})
        self.x = given.detach().to(working_dtype(given.dtype))
        self._calls = {layer.name: layer for layer in self._first.layers(rows, len(self.few))}
        self.layers = tuple(layer for layer in self._calls.values() if layer.number >= 0)
        """The layers of hard gates, in the order of the calls."""
        if not self.layers:
            raise PenstockError(
                "the gates of this model are all smooth or given from outside, and a given or smooth gate "
                "never flips; follow it with penstock.Monitor"
            )

    def __len__(self) -> int:
        return len(self.x)

    @property
    def gates(self) -> int:
        """The number of hard gates of one example."""
        return sum(layer.gates for layer in self.layers)

    @property
    def gives_gates(self) -> bool:
        """Whether gates of one network multiply another one's signal."""
        return any(isinstance(layer.kind, Given) for layer in self._calls.values())

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Inside, the model is in evaluation mode and may be run; afterwards it is as it was found."""
        with left_as_found(self.model), torch.no_grad(), eager(), _without_autocast():
            self.model.eval()
            yield

    def visit(self, weights: Weights, examples: Int64[Tensor, " k"] | slice, visitor: Visitor) -> None:
        """Runs some of the examples with these weights, and shows the visitor every layer. Only while
        `asking`.
        """
        self.run(self.model, weights, self.x[examples].clone(), visitor)

    def run(
        self, model: nn.Module, weights: Weights, x: Float[Tensor, "n *shape"], visitor: Visitor
    ) -> Tensor:
        """Runs the model, or a copy of it, on any inputs, and returns what it returns."""
        passing = _Passing(model, self._first.signals, lambda *seen: self._show(visitor, len(x), *seen))
        with misfits_told(model, x), passing:
            y = functional_call(model, weights, (x,))
        if passing.calls != len(self._calls):
            raise _other_way(
                f"the model makes {passing.calls} ReLU-like calls where it made {len(self._calls)} at first"
            )
        return y

    def _show(self, visitor: Visitor, n: int, name: str, kind: Kind, q: Tensor) -> Tensor | None:
        layer = self._calls.get(name)
        if layer is None or not layer.rows.fit(tuple(q.shape), n):
            raise _other_way(f"{name} is called in another way than at first")
        return (visitor.pass_by if layer.number < 0 else visitor.see)(layer, kind, q, n)


def _other_way(what: str) -> PenstockError:
    return PenstockError(
        f"{what}, because the model's control flow depends on its weights or its inputs; follow a model that "
        "always makes the same calls"
    )


class _First(Following):
    """The first run: which calls there are, and which of them are made on what depends on the input."""

    def __init__(self, model: nn.Module):
        super().__init__(model)
        self.signals: list[bool] = []
        self.kinds: dict[str, Kind] = {}
        self.seen: dict[str, Tensor] = {}

    def is_signal(self, q: Tensor) -> bool:
        self.signals.append(super().is_signal(q))
        return self.signals[-1]

    def on_call(self, name: str, kind: Kind, q: Tensor) -> None:
        self.kinds[name], self.seen[name] = kind, q.clone()

    def layers(self, rows: dict[str, Rows], n: int) -> Iterator[Layer]:
        number = 0
        for name, kind in self.kinds.items():
            shape = tuple(rows[name].first(kind.read(self.seen[name]), n).shape[1:])
            # gates that are given flip where those do that they come from
            flips = kind.hard and not isinstance(kind, Given)
            yield Layer(number if flips else -1, name, kind, rows[name], shape)
            number += flips


class _Passing(Watch):
    """A later run, which follows no storage any more: calls on weights alone are the same ones again."""

    def __init__(
        self, model: nn.Module, signals: list[bool], show: Callable[[str, Kind, Tensor], Tensor | None]
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
    """Mixed precision is a choice for training; gates are looked at in full."""
    with torch.autocast("cpu", enabled=False), torch.autocast("cuda", enabled=False):
        yield
