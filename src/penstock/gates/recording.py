"""`capture`: the gates that a model opens for a set of inputs.

The model runs as it is, batch by batch, under a watch. Each layer is packed the moment it is seen, while its
pre-activations are still hot, so that a data set larger than memory costs one bit a hard gate.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch._C._functorch import is_functorch_wrapped_tensor  # pyright: ignore[reportMissingImports]
from torch.utils.data import DataLoader

from penstock.errors import PenstockError
from penstock.gates.following import Following
from penstock.gates.kinds import Kind, Rectifier
from penstock.gates.layer import GateLayer
from penstock.gates.record import GateRecord
from penstock.gates.rows import PLAIN, Rows, find_rows, uncounted
from penstock.gates.unseen import Unseen, check_function, check_visible
from penstock.model import batches, check, describe, eager, how_many, left_as_found

__all__ = ["capture"]


def capture(
    model: nn.Module,
    x: Tensor | np.ndarray | DataLoader,
    *,
    batch_size: int | None = None,
    progress: Callable[[int, int | None], object] | None = None,
) -> GateRecord:
    """The gates of every ReLU-like call of `model`, for every example of x (N Table 1, D Section 2).

    A unit is open where its pre-activation is above 0. What counts as a gate, and its kind, stands in
    `penstock.gates.kinds`; calls are named by the path of their layer. A tensor or an array goes through the
    model at once unless `batch_size` is given; a `DataLoader` in its own batches. After each one,
    `progress(done, total)` is called with numbers of examples (`total` is None where it is unknown).

    Nothing that the watch cannot see is passed over in silence: scripted layers, `nn.RNN("relu")`, custom
    autograd Functions, `DataParallel` and ReLUs in fused or compiled code are refused. Gates written by hand
    (`x * (x > 0)`) and threads of the model's own are not seen; `record.verify(model, x)` proves that there
    are none. Where a model mixes examples or its flow depends on the batch, the gates are those of the
    batches it was given.

    >>> model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    >>> record = capture(model, torch.randn(5, 2))
    >>> record["1"].to_dense().shape
    torch.Size([5, 3])
    """
    check(model)
    check_visible(model)
    total, done = how_many(x), 0
    records: list[GateRecord] = []
    rows: dict[str, Rows] | None = None
    with left_as_found(model), torch.no_grad(), eager():
        for batch in batches(model, x, size=batch_size):
            seen = _watched(model, batch, rows)
            if rows is None:
                rows = find_rows(model, batch, {one.name: one.shape for one in seen})
            _check_same_calls(list(rows), [one.name for one in seen], done)
            records.append(GateRecord(one.layer(rows[one.name], len(batch)) for one in seen))
            _check_same_shapes(records[0], records[-1], done)
            done += len(batch)
            if progress is not None:
                progress(done, total)
    return GateRecord.concatenate(records)


@dataclass(frozen=True)
class _Seen:
    """One call on one batch: packed where its first dimension may count the examples, else its pattern."""

    name: str
    kind: Kind
    shape: tuple[int, ...]
    gates: GateLayer | Tensor

    def layer(self, rows: Rows, n: int) -> GateLayer:
        if rows == PLAIN and isinstance(self.gates, GateLayer):
            return self.gates
        if not rows.fit(self.shape, n):
            raise uncounted(self.name, self.shape, n)
        if isinstance(self.kind, Rectifier) and torch.as_tensor(self.kind.slope).numel() > 1:
            raise PenstockError(
                f"{self.name} has a slope for every channel and its examples are not in the first dimension; "
                "keep them there"
            )
        pattern = self.gates if isinstance(self.gates, Tensor) else self.gates.pattern()
        return GateLayer.from_pattern(self.name, self.kind, rows.first(pattern, n))


class _Recorder(Following):
    """Reads the gates of every call that depends on the input, and leaves the call as it is."""

    below = Unseen

    def __init__(self, model: nn.Module, n: int, rows: dict[str, Rows] | None):
        super().__init__(model)
        self.n, self.rows = n, rows
        self.seen: list[_Seen] = []

    def on_other(self, function: object) -> None:
        check_function(self)

    def on_call(self, name: str, kind: Kind, q: Float[Tensor, "*shape"]) -> None:
        check_function(self)
        if is_functorch_wrapped_tensor(q):
            self.refuse(
                f"the call {self.names.place(name)} is made inside torch.func (vmap, grad or their kin), "
                "where one call stands for many; write the model on whole batches"
            )
        kind, shape = _kept(kind), tuple(q.shape)
        if not shape:
            self.refuse(str(uncounted(name, shape, self.n)))
        plain = PLAIN.fit(shape, self.n) and (self.rows or {}).get(name, PLAIN) == PLAIN
        gates = GateLayer.of(name, kind, q) if plain else kind.read(q)
        self.seen.append(_Seen(name, kind, shape, gates))


def _kept(kind: Kind) -> Kind:
    """The kind as it is now: a slope that is a parameter goes on learning, and the record must not."""
    if isinstance(kind, Rectifier) and isinstance(kind.slope, Tensor):
        return replace(kind, slope=kind.slope.detach().clone())
    return kind


def _watched(model: nn.Module, batch: Float[Tensor, "n *shape"], rows: dict[str, Rows] | None) -> list[_Seen]:
    recorder = _Recorder(model, len(batch), rows)
    recorder.run(batch)
    if not recorder.seen:
        raise PenstockError(
            f"{describe('', model)} has no gates: it calls neither torch.relu nor its kin; a gate written by "
            "hand, such as x * (x > 0), is not seen, so write it with torch.relu"
        )
    return recorder.seen


def _check_same_calls(first: list[str], now: list[str], row: int) -> None:
    """Every batch must open the same layers, or there is no record to speak of."""
    for name in [*first, *now]:
        if name not in first or name not in now:
            raise PenstockError(
                f"{name} is called for some batches and not for others (the one from row {row} on differs "
                "from the first), because the control flow depends on the data; capture the inputs of each "
                "branch by themselves"
            )


def _check_same_shapes(first: GateRecord, record: GateRecord, row: int) -> None:
    for name in first:
        if first[name].shape != record[name].shape:
            raise PenstockError(
                f"{name} has {first[name].shape} gates an example in the first batch and "
                f"{record[name].shape} from row {row} on; give all examples one size"
            )
