"""The gates that a model opens for a set of inputs: one packed pattern for every example and layer."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import torch
from jaxtyping import Bool, Int64, Shaped
from torch import Tensor, nn
from torch.utils.data import DataLoader

from penstock.errors import PenstockError, UnknownName
from penstock.gates import storage, table
from penstock.gates.kind import Kind
from penstock.gates.layer import GateLayer
from penstock.gates.selection import Examples, rows_of
from penstock.gates.shared import shared_counts

__all__ = ["GateLayer", "GateRecord"]


class GateRecord(Mapping[str, GateLayer]):
    """The gates of every layer, by name, in the order of the calls. `penstock.capture` makes one.

    A name is the path of the activation's module, or `<path>.<function>` for a call without a module of its
    own, and ends in `:2`, `:3`… from the second call on. Hard gates are kept as bits, 64 to a word, smooth
    ones by value; what counts open gates refuses smooth ones until `active` has named a threshold.

    `print(record)` shows every layer with its share of open gates and its dead and always-open units.
    `record.overlap()` counts the gates that two inputs share, τ of N Definition C.2;
    `record.active(threshold)` takes the gates above a threshold, D Section 3.1.

    >>> model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    >>> record = penstock.capture(model, torch.randn(5, 2))
    >>> record["1"].to_dense().shape
    torch.Size([5, 3])
    >>> record.overlap()["1"].shape
    torch.Size([5, 5])
    """

    def __init__(self, layers: Iterable[GateLayer]):
        self._layers: dict[str, GateLayer] = {}
        for layer in layers:
            if layer.name in self._layers:
                raise PenstockError(
                    f"a record cannot hold two layers called {layer.name}; give each its own name"
                )
            self._layers[layer.name] = layer
        if not self._layers:
            raise PenstockError("a record needs at least one layer of gates; this model has none")
        for layer in self._layers.values():
            if len(layer) != self.examples:
                raise PenstockError(
                    f"the layer {layer.name} holds {len(layer)} rows of gates and the layer {self.names[0]} "
                    f"{self.examples}; a record needs one row for each example in every layer"
                )

    @classmethod
    def from_patterns(cls, patterns: Iterable[tuple[str, Kind, Shaped[Tensor, "n *gates"]]]) -> "GateRecord":
        """The record of one batch, from the name, the kind and the pattern (`kind.read`) of every layer."""
        return cls(GateLayer.from_pattern(name, kind, pattern) for name, kind, pattern in patterns)

    @classmethod
    def concatenate(cls, records: Sequence["GateRecord"]) -> "GateRecord":
        """The examples of several records of one model, one after another."""
        first = records[0]
        if len(records) == 1:
            return first
        for record in records[1:]:
            first._check_layers_of(record)
        return cls(GateLayer.concatenate([record[name] for record in records]) for name in first)

    def __getitem__(self, name: object) -> GateLayer:
        if not isinstance(name, str) or name not in self._layers:
            raise UnknownName("gate layer", name, self._layers)
        return self._layers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._layers)

    def __len__(self) -> int:
        """The number of layers; `examples` is the number of inputs."""
        return len(self._layers)

    @property
    def examples(self) -> int:
        """The number of inputs."""
        return len(next(iter(self._layers.values())))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the layers, in the order of the calls."""
        return tuple(self._layers)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each layer's gates for one example."""
        return {name: layer.shape for name, layer in self.items()}

    @property
    def gates(self) -> int:
        """The number of gates of one example, over all layers."""
        return sum(layer.gates for layer in self.values())

    @property
    def nbytes(self) -> int:
        """The memory that the gates take."""
        return sum(layer.nbytes for layer in self.values())

    @property
    def fraction_open(self) -> dict[str, float]:
        """By layer, the share of gates, over all examples, that are open."""
        return {name: layer.fraction_open for name, layer in self.items()}

    @property
    def dead(self) -> dict[str, Bool[Tensor, "*shape"]]:
        """By layer, the units whose gate no example opens."""
        return {name: layer.dead for name, layer in self.items()}

    @property
    def always_open(self) -> dict[str, Bool[Tensor, "*shape"]]:
        """By layer, the units whose gate every example opens."""
        return {name: layer.always_open for name, layer in self.items()}

    def to_dense(self) -> dict[str, Shaped[Tensor, "n *gates"]]:
        """By layer, all gates as one tensor: bool where gates are hard, numbers where they are smooth."""
        return {name: layer.to_dense() for name, layer in self.items()}

    def select(self, examples: Examples) -> "GateRecord":
        """The record of some of the examples: by a number, a slice, numbers in any order, or a mask.

        >>> record.select(labels == 7).examples
        4
        """
        rows = rows_of(examples, self.examples)
        return GateRecord(layer.select(rows) for layer in self.values())

    def active(self, threshold: float | int) -> "GateRecord":
        """A record of bits: the gates whose value is above `threshold`, the active gates of D Section 3.1.

        SiLU's and GELU's gates are above 0.5 where their pre-activation is above 0. An open hard gate has the
        value 1, a shut one 0 (LeakyReLU's its slope, |·|'s -1), so that ReLU's bits stay as they are for any
        threshold below 1. Max-pooling's choice stays as it is. What other kinds became is in their layer's
        `kind`.
        """
        return GateRecord(layer.active(threshold) for layer in self.values())

    def overlap(self, other: "GateRecord | None" = None) -> dict[str, Int64[Tensor, "n m"]]:
        """By layer, τ(s, s′): the gates open both for example s of this record and s′ of `other` (N
        Definition C.2).

        Without `other`, for every pair of this record's own. The diagonal is then the number of each
        example's open gates.
        """
        if other is None:
            return {name: shared_counts(layer.words) for name, layer in self.items()}
        self._check_layers_of(other)
        return {
            name: shared_counts(layer.words, other[name].words.to(layer.words.device))
            for name, layer in self.items()
        }

    def hamming(self, other: "GateRecord") -> dict[str, Int64[Tensor, " n"]]:
        """By layer, in how many gates each example of this record differs from the same example of `other`.

        For two records of the same inputs: at two times in training, say, or of two models of one
        architecture. A ReLU6 that goes from 0 to its held 6 differs too. (Between different inputs s and s′
        it is τ(s, s) + τ(s′, s′) - 2τ(s, s′), of `overlap`.)
        """
        self._check_layers_of(other)
        if self.examples != other.examples:
            raise PenstockError(
                f"the records hold {self.examples} and {other.examples} examples, but differing gates are "
                "counted example by example; select the same ones from both"
            )
        return {name: layer.hamming(other[name]) for name, layer in self.items()}

    def verify(self, model: nn.Module, x: Tensor | np.ndarray | DataLoader) -> None:
        """Proves that these are all the gates of `model`: with them held, the model is affine around the
        inputs `x`.

        See `penstock.gates.proof`. Raises a `PenstockError` that names the first call that is not affine.
        """
        from penstock.gates.proof import prove

        prove(self, model, x)

    def to(self, device: torch.device | str) -> "GateRecord":
        """The same record on another device."""
        return GateRecord(layer.to(device) for layer in self.values())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the record to a file, whole or not at all: safetensors, with a version of its format."""
        storage.save(list(self.values()), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "GateRecord":
        """The record that `save` wrote, its checksums checked; mapped, so that it may exceed memory."""
        return cls(storage.load(path))

    def summary(self) -> str:
        """A table of the layers: kind, shape, share of open gates, dead and always-open units."""
        return table.summarize(list(self.values()))

    def _check_layers_of(self, other: "GateRecord") -> None:
        if not isinstance(other, GateRecord):
            raise PenstockError(
                f"a record is compared with another GateRecord, not with a {type(other).__name__}"
            )
        for name in [*self, *other]:
            if name not in self or name not in other:
                raise PenstockError(
                    f"only one of the records holds the layer {name}; both must come from models of one "
                    "architecture"
                )
            if self[name].shape != other[name].shape:
                raise PenstockError(
                    f"the layer {name} has gates of shape {self[name].shape} in one record and "
                    f"{other[name].shape} in the other; both must come from inputs of one shape"
                )

    def __eq__(self, other: object) -> bool:
        """Whether names, kinds, shapes and every gate are the same."""
        if not isinstance(other, GateRecord):
            return NotImplemented
        return self.names == other.names and all(self[name] == other[name] for name in self)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return table.outline(list(self.values()))

    def __str__(self) -> str:
        return self.summary()
