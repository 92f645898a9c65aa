"""Whether a record belongs to a model and its inputs: the same calls, of the same kind and shape, opening the
same gates."""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from penstock.errors import PenstockError, nearest
from penstock.gates.following import Following
from penstock.gates.kind import Kind
from penstock.gates.record import GateRecord
from penstock.gates.rows import PLAIN, Rows, find_rows
from penstock.model import left_as_found

__all__ = ["as_called"]


def as_called(
    record: GateRecord,
    model: nn.Module,
    batch: Float[Tensor, "n *shape"],
    rows: Mapping[str, Rows] | None = None,
) -> tuple[dict[str, Rows], dict[str, Shaped[Tensor, "..."]]]:
    """The record's patterns as the model's calls have them on this batch, and how each counts its examples.

    Refuses a record of another model or other inputs. Gates may differ where the pre-activation is zero but
    for rounding: batches of another size are added up in another order.
    """
    calls = _Calls(model)
    with left_as_found(model):
        calls.run(batch)
    _check_calls(record, calls)
    if rows is None:
        rows = find_rows(model, batch, {name: shape for name, (_, shape) in calls.seen.items()})
    n = len(batch)
    patterns = {}
    for name, (kind, shape) in calls.seen.items():
        pattern = torch.empty(shape[0], *kind.gate_shape(shape), device="meta")
        wanted = tuple(rows.get(name, PLAIN).first(pattern, n).shape[1:])
        if record[name].shape != wanted:
            raise PenstockError(
                f"the record has gates of shape {record[name].shape} for {name}, and the model has {wanted}; "
                "give the inputs that the record was captured from"
            )
        patterns[name] = rows.get(name, PLAIN).back(record[name].pattern().to(batch.device))
    comparing = _Comparing(model, patterns, rows, n)
    comparing.run(batch)
    return dict(rows), patterns


class _Calls(Following):
    """Only lists the calls."""

    def __init__(self, model: nn.Module):
        super().__init__(model)
        self.seen: dict[str, tuple[Kind, tuple[int, ...]]] = {}

    def on_call(self, name: str, kind: Kind, q: Tensor) -> None:
        self.seen[name] = kind, tuple(q.shape)


def _check_calls(record: GateRecord, calls: _Calls) -> None:
    for name, (kind, _) in calls.seen.items():
        if name not in record:
            raise PenstockError(
                f"the record does not belong to this model: it has no gates for {name}, which the model "
                f"calls; {nearest(name, record)}"
            )
        if record[name].kind != kind:
            raise PenstockError(
                f"the record's gates of {name} are {record[name].kind} and the model's are {kind}; capture "
                "it anew"
            )
    for name in record:
        if name not in calls.seen:
            raise PenstockError(
                f"the record does not belong to this model: it has gates for {name}, which the model does "
                f"not call; {nearest(name, calls.seen)}"
            )


class _Comparing(Following):
    """Refuses gates that are not the model's own. What counts is not how many differ, but by how much the
    output of the call would."""

    def __init__(self, model: nn.Module, patterns: Mapping[str, Tensor], rows: Mapping[str, Rows], n: int):
        super().__init__(model)
        self.patterns, self.rows, self.n = patterns, rows, n

    def on_call(self, name: str, kind: Kind, q: Float[Tensor, "*shape"]) -> None:
        mine, its = kind.read(q), self.patterns[name]
        if torch.equal(mine, its):
            return
        rows = self.rows.get(name, PLAIN)
        off = rows.first((kind.apply(q, mine) - kind.apply(q, its)).abs(), self.n).flatten(1).amax(1)
        size = rows.first(q.abs(), self.n).flatten(1).amax(1)
        rounding = min(1e3 * torch.finfo(q.dtype).eps, 0.1)
        wrong = ~(off <= rounding * size)
        if bool(wrong.any()):
            self.refuse(
                f"the record's gates of {name} are not those that the model opens for row "
                f"{int(wrong.nonzero()[0])} of x; capture them anew, from this model and these inputs"
            )
