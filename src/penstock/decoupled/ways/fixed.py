"""Any networks with fixed gates: the gates of every example are recorded once and looked up by its number.

So a step costs what a step of a plain network costs, and the feature network does not run at all. Where the
gates of all members do not fit in memory, they are computed again at every step.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.func import functional_call

from penstock.decoupled.multiplying import ByName, Multiplying, Source
from penstock.decoupled.outside import Emitted, FixedGates
from penstock.errors import PenstockError
from penstock.gates.given import Bits, Given
from penstock.gates.kinds import Rectifier
from penstock.gates.layer import BitLayer, GateLayer
from penstock.gates.record import GateRecord
from penstock.gates.recording import capture
from penstock.training.ways.alone import Alone
from penstock.training.ways.modes import mode
from penstock.training.ways.way import Batch, Split

if TYPE_CHECKING:
    from penstock.decoupled.network import GatedNetwork

__all__ = ["Fixed"]

# Examples whose gates are recorded together.
_CHUNK = 256
# By how much of their size outputs may differ when gates are looked up.
_ROUNDING = 1e-3


class Fixed(Alone):
    """The value networks in turn, each under the gates of its own feature network."""

    def __init__(self, models: "Sequence[GatedNetwork]", memory: int):
        super().__init__(models, [0] * len(models), "fixed gates")
        self._pairs, self._memory = list(models), memory
        self._records: list[dict[Split, GateRecord]] = [{} for _ in models]

    def prepare(self, inputs: Mapping[Split, Tensor]) -> None:
        if isinstance(self._pairs[0].feature, FixedGates):
            self.why += " from outside"
            return
        a_few = inputs["train"][:2]
        bytes_each = sum(capture(pair.feature, a_few).nbytes for pair in self._pairs) / len(a_few)
        needed = bytes_each * sum(len(x) for x in inputs.values())
        if needed > self._memory:
            self.why += f", computed at every step, since {needed / 1e9:.2g} GB do not fit in memory="
        elif not all(_can_be_looked_up(pair, a_few) for pair in self._pairs):
            self.why += ", computed at every step, since not every layer has one row an example"
        else:
            self.why += f", kept packed in {needed / 1e6:.2g} MB"
            for pair, records in zip(self._pairs, self._records, strict=True):
                for split, x in inputs.items():
                    records[split] = capture(pair.feature, x, batch_size=_CHUNK)

    def run(self, member: int, own: dict[str, Tensor], batch: Batch) -> Float[Tensor, "b *o"]:
        pair, record = self._pairs[member], self._records[member].get(batch.split)
        rows = batch.rows if isinstance(batch.rows, slice) else batch.rows[member]
        x = batch.x[member]
        if record is None and not isinstance(pair.feature, FixedGates):
            return super().run(member, own, batch)
        tensors = own | {name: stacked[member] for name, stacked in self._moving.items()}
        values = {
            name.removeprefix("value."): each for name, each in tensors.items() if name.startswith("value.")
        }
        with mode(pair, training=batch.training):
            source = (
                _looked_up(record, rows) if record is not None else _given_for(pair, batch.split, rows, x)
            )
            with Multiplying(pair.value, source):
                return functional_call(pair.value, values, (x,))


def _looked_up(record: GateRecord, rows: Int[Tensor, " b"] | slice) -> Source:
    return ByName({name: _given(layer, rows) for name, layer in record.items()})


def _given(layer: GateLayer, rows: Int[Tensor, " b"] | slice) -> Given:
    """The gates of some examples, packed as they lie where a ReLU's are meant."""
    of_rows = type(layer)(layer.name, layer.kind, layer.shape, tuple(each[rows] for each in layer.tensors))
    plain = isinstance(layer.kind, Rectifier) and not isinstance(layer.kind.slope, Tensor)
    if plain and isinstance(of_rows, BitLayer):
        return Given(layer.kind, Bits(of_rows.words, layer.shape))
    return Given(layer.kind, of_rows.pattern())


def _given_for(pair: "GatedNetwork", split: Split, rows: Int[Tensor, " b"] | slice, x: Tensor) -> Source:
    """The gates from outside that these examples have."""
    assert isinstance(pair.feature, FixedGates)
    if split != "train":
        raise PenstockError(
            "gates= holds gates for the examples that are trained on, and the test set has none; leave the "
            "test set out, or give a module that emits gates"
        )
    with pair.feature.rows(rows):
        return Emitted(pair.feature(x))


def _can_be_looked_up(pair: "GatedNetwork", x: Tensor) -> bool:
    """Whether every layer has the examples in its first dimension, so that rows of a record are its rows."""
    with mode(pair, training=False), torch.no_grad():
        wanted = pair(x)
        try:
            with Multiplying(pair.value, _looked_up(capture(pair.feature, x), slice(None))):
                found = pair.value(x)
        except (PenstockError, RuntimeError):
            return False
    return bool(torch.allclose(found, wanted, rtol=_ROUNDING, atol=_ROUNDING * float(wanted.abs().max())))
