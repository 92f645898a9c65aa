"""Gates from outside: fixed random ones, a record's, or those that any module emits."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from penstock.decoupled.multiplying import Source
from penstock.errors import PenstockError
from penstock.gates.choice import Pooling
from penstock.gates.factor import Factor
from penstock.gates.given import Given
from penstock.gates.kind import Kind
from penstock.gates.kinds import Clipped, Rectifier
from penstock.gates.record import GateRecord

__all__ = ["Emitted", "FixedGates"]


class FixedGates(nn.Module):
    """Gates of a fixed set of examples, kept as buffers: a row an example in every layer.

    `penstock.decouple(model, gates=…)` makes it of tensors or of a `GateRecord`. A pass takes all examples in
    order; for some of them, say which:

    >>> gates = [torch.rand(5, 8) < 0.5, torch.rand(5, 8) < 0.5]  # five examples, two layers of eight units
    >>> fixed = FixedGates(gates)
    >>> with fixed.rows(torch.tensor([0, 3])):
    ...     [tuple(layer.shape) for layer in fixed(torch.zeros(2, 3)).values()]
    [(2, 8), (2, 8)]
    """

    def __init__(self, gates: GateRecord | Mapping[str, Tensor] | Sequence[Tensor]):
        super().__init__()
        self._kinds: dict[str | int, Kind] = {}
        if isinstance(gates, GateRecord):
            self._kinds = {name: layer.kind for name, layer in gates.items()}
            gates = {name: layer.pattern() for name, layer in gates.items()}
        pairs = gates.items() if isinstance(gates, Mapping) else enumerate(gates)
        by_name: dict[str | int, Tensor] = dict(pairs)
        self.count = _count(by_name)
        """How many examples the gates are for."""
        self._names = tuple(by_name)
        self._rows: Any = None
        for place, tensor in enumerate(by_name.values()):
            self.register_buffer(f"layer{place}", tensor.detach().clone())

    def forward(self, x: Tensor) -> dict[str | int, Tensor | Given]:
        if self._rows is None and self.count not in (1, len(x)):
            raise PenstockError(
                f"the gates were given for {self.count} examples and x has {len(x)}; give those examples, or "
                "say which of them x has: with network.feature.rows(…):"
            )
        emitted: dict[str | int, Tensor | Given] = {}
        for place, name in enumerate(self._names):
            layer = self.get_buffer(f"layer{place}")
            pattern = layer if self._rows is None else self._chosen(layer)
            emitted[name] = Given(self._kinds[name], pattern) if name in self._kinds else pattern
        return emitted

    @contextmanager
    def rows(self, rows: Tensor | slice | Sequence[int]) -> Iterator[None]:
        """Inside, x holds only these of the examples: their numbers, a slice or a mask."""
        before, self._rows = self._rows, rows
        try:
            yield
        finally:
            self._rows = before

    def _chosen(self, layer: Shaped[Tensor, "n *gates"]) -> Shaped[Tensor, "k *gates"]:
        try:
            return layer[self._rows]
        except IndexError as error:
            raise PenstockError(
                f"rows(…) says which examples x has, and the gates are for {self.count}, numbered from 0 to "
                f"{self.count - 1}; give whole numbers of these, a slice or a mask ({error})"
            ) from error

    def extra_repr(self) -> str:
        return f"{self.count} examples, {len(self._names)} layers"


def _count(gates: Mapping[str | int, Tensor]) -> int:
    if not gates:
        raise PenstockError("gates= holds no layer at all; give one tensor for each gate layer of the model")
    first = next(iter(gates))
    for name, tensor in gates.items():
        if not isinstance(tensor, Tensor) or tensor.ndim < 2:
            told = tuple(tensor.shape) if isinstance(tensor, Tensor) else type(tensor).__name__
            raise PenstockError(
                f"the gates of layer {name} must be a tensor with a row for each example, not {told}"
            )
        if len(tensor) != len(gates[first]):
            raise PenstockError(
                f"gates= has {len(gates[first])} examples in layer {first} and {len(tensor)} in layer {name};"
                " give every layer one row for each example"
            )
    return len(gates[first])


class Emitted(Source):
    """What a module of the user's emitted for one batch: by name, or in the order of the calls."""

    def __init__(self, emitted: Any):
        given: Any = [emitted] if isinstance(emitted, Tensor) else emitted
        if isinstance(given, list | tuple):
            given = dict(enumerate(given))
        if not isinstance(given, dict) or not all(
            isinstance(each, Tensor | Given) for each in given.values()
        ):
            raise PenstockError(
                f"the module of gates= gives {type(emitted).__name__}, and gates are one tensor for each "
                "gate layer: a tensor, a list, or a dictionary by the names of the calls"
            )
        self.gates: dict[str | int, Tensor | Given] = given
        self.called = 0
        self._used: dict[str | int, Given] = {}

    @property
    def unused(self) -> list[str | int]:
        """The layers that no call has asked for."""
        return [key for key in self.gates if key not in self._used]

    def gates_of(self, name: str, kind: Kind, q: Float[Tensor, "*shape"]) -> Given:
        key: str | int = name
        if name not in self.gates:
            key, self.called = self.called, self.called + 1
        if key not in self.gates:
            known = ", ".join(map(str, self.gates))
            raise PenstockError(
                f"gates= has no gates for {name}, which the model calls; there are gates for {known}, and a "
                "layer goes by its name or, in a list, by its place"
            )
        gates = self.gates[key]
        given = gates if isinstance(gates, Given) else _given(name, kind, gates, q)
        self._used[key] = given
        return given

    def check_choices(self) -> None:
        """Of every window of a max-pooling, one entry is chosen."""
        for key, given in self._used.items():
            if isinstance(given.kind, Pooling) and not bool((given.pattern.sum(-1) == 1).all()):
                raise PenstockError(
                    f"the gates of {key} ({given.kind}) must choose one entry of every window; take them "
                    "from a record: gates=penstock.capture(model, x)"
                )


def _given(name: str, kind: Kind, gates: Shaped[Tensor, "..."], q: Float[Tensor, "*shape"]) -> Given:
    """Bits are a pattern of the call's own kind; numbers are what G is in `slope + (1 - slope)·G`."""
    if gates.dtype == torch.bool or (isinstance(kind, Clipped) and gates.dtype == torch.uint8):
        return Given(kind, gates)
    if not gates.is_floating_point():
        raise PenstockError(
            f"the gates of {name} are {gates.dtype}; give bits (torch.bool) or floating-point numbers"
        )
    if gates.dtype != q.dtype and not torch.is_autocast_enabled(q.device.type):
        raise PenstockError(
            f"the gates of {name} are {gates.dtype} and the signal there is {q.dtype}; give both one dtype"
        )
    if kind.hard and not isinstance(kind, Rectifier):
        raise PenstockError(
            f"the gates of {name} ({kind}) are bits, and numbers were given; take them from a record: "
            "gates=penstock.capture(model, x)"
        )
    if isinstance(kind, Rectifier) and (isinstance(kind.slope, Tensor) or kind.slope):
        slope = kind.slope_for(gates).to(gates.dtype)
        gates = slope + (1 - slope) * gates
    return Given(Factor(), gates)
