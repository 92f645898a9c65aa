"""Which dimension of a layer counts the examples.

Mostly the first. But a module may put its sequence first (positions × examples × features), or fold positions
into the batch (examples · positions × features). Which it is shows when the module runs on another number of
examples: the one size that changes with it. Whether a folded dimension counts examples outside or inside
shows when two examples change places.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor, nn

from penstock.errors import PenstockError
from penstock.gates.following import Following
from penstock.gates.kind import Kind
from penstock.model import left_as_found

__all__ = ["PLAIN", "Rows", "find_rows", "uncounted"]


@dataclass(frozen=True)
class Rows:
    """The examples are counted by dimension `dim`, alone or folded together with something else."""

    dim: int = 0
    folded: bool = False
    outside: bool = True
    """In a folded dimension: whether all entries of one example stand together."""

    def first(self, tensor: Tensor, n: int) -> Tensor:
        """The tensor with its n examples in a first dimension of their own."""
        if not self.folded:
            return tensor.movedim(self.dim, 0)
        if self.outside:
            return tensor.unflatten(self.dim, (n, -1)).movedim(self.dim, 0)
        return tensor.unflatten(self.dim, (-1, n)).movedim(self.dim + 1, 0)

    def back(self, tensor: Tensor) -> Tensor:
        """What `first` was given, from what it gave."""
        if not self.folded:
            return tensor.movedim(0, self.dim)
        return tensor.movedim(0, self.dim if self.outside else self.dim + 1).flatten(self.dim, self.dim + 1)

    def fit(self, shape: tuple[int, ...], n: int) -> bool:
        """Whether a tensor of this shape can be one of n examples."""
        return len(shape) > self.dim and (shape[self.dim] % n == 0 if self.folded else shape[self.dim] == n)


PLAIN = Rows()

# What batches of another order may differ by, of the largest value in a layer.
_ROUNDING = 1e-2


def find_rows(
    model: nn.Module, batch: Float[Tensor, "n *shape"], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Rows]:
    """How each call counts its examples, for calls that had these shapes on this batch."""
    n = len(batch)
    if all(_beyond_doubt(shape, n) for shape in shapes.values()):
        return dict.fromkeys(shapes, PLAIN)
    fewer = batch[:1] if n > 1 else torch.cat([batch, batch])
    try:
        seen = _run(model, fewer)
    except (PenstockError, RuntimeError):
        # a model made for this number of examples
        return _by_exchange(
            model, batch, {name: (shape, _possible(shape, n)) for name, shape in shapes.items()}
        )
    rows = {}
    for name, shape in shapes.items():
        # a call that this run does not make (the data steer the control flow) has only its first dimension
        other = seen[name].shape if name in seen else (len(fewer), *shape[1:])
        rows[name] = _changed(name, shape, n, tuple(other), len(fewer))
    pair = batch[:2] if n > 1 else torch.cat([batch, batch / 2])
    folded = {
        name: (shapes[name], [replace(row, outside=True), replace(row, outside=False)])
        for name, row in rows.items()
        if row.folded
    }
    return rows | _by_exchange(model, pair, folded)


def _beyond_doubt(shape: tuple[int, ...], n: int) -> bool:
    """Whether only the first dimension can be the one that counts n examples."""
    return bool(shape) and shape[0] == n and (n == 1 or all(size % n for size in shape[1:]))


def _changed(name: str, shape: tuple[int, ...], n: int, other: tuple[int, ...], m: int) -> Rows:
    """The one dimension that has k·n entries for n examples and k·m for m."""
    if len(shape) == len(other):
        changed = [dim for dim, (size, its) in enumerate(zip(shape, other, strict=True)) if size != its]
        if (
            len(changed) == 1
            and shape[changed[0]] * m == other[changed[0]] * n
            and shape[changed[0]] % n == 0
        ):
            return Rows(changed[0], folded=shape[changed[0]] != n)
    raise uncounted(name, shape, n)


def uncounted(name: str, shape: tuple[int, ...], n: int) -> PenstockError:
    """The refusal of a call that has no row for each example."""
    return PenstockError(
        f"the call {name} is made on a tensor of shape {'×'.join(map(str, shape)) or '()'}, in which no "
        f"dimension counts the {n} examples, so that nobody can say which gates are whose; keep one row an "
        "example there"
    )


def _possible(shape: tuple[int, ...], n: int) -> list[Rows]:
    """Every way in which a tensor of this shape can count n examples, the plain one first."""
    alone = [Rows(dim) for dim, size in enumerate(shape) if size == n]
    folded = [dim for dim, size in enumerate(shape) if size > n and size % n == 0]
    return alone + [Rows(dim, True, outside) for dim in folded for outside in (True, False)]


def _by_exchange(
    model: nn.Module, batch: Float[Tensor, "n *shape"], ways: Mapping[str, tuple[tuple[int, ...], list[Rows]]]
) -> dict[str, Rows]:
    """Of several ways to count the examples, the one in which they change places as the batch does."""
    if not ways:
        return {}
    straight, swapped = _run(model, batch), _run(model, batch.flip(0))
    rows = {}
    for name, (shape, possible) in ways.items():
        if not possible or name not in straight or name not in swapped:
            raise uncounted(name, shape, len(batch))
        misfits = {row: _misfit(row, straight[name], swapped[name], len(batch)) for row in possible}
        rows[name] = min(misfits, key=lambda row: misfits[row])
        if not misfits[rows[name]] <= _ROUNDING:
            raise uncounted(name, shape, len(batch))
    return rows


def _misfit(row: Rows, straight: Tensor, swapped: Tensor, n: int) -> float:
    """How far, as a share of the largest value, the exchanged examples are from those that they should be."""
    off = (row.first(straight, n) - row.first(swapped, n).flip(0)).abs().max()
    return float(off / straight.abs().max().clamp(min=torch.finfo(straight.dtype).tiny))


def _run(model: nn.Module, batch: Tensor) -> dict[str, Tensor]:
    look = _Look(model)
    # what this run does to the model's own state must not reach the runs that count
    with left_as_found(model):
        look.run(batch)
    return look.seen


class _Look(Following):
    """Keeps the pre-activations."""

    def __init__(self, model: nn.Module):
        super().__init__(model)
        self.seen: dict[str, Tensor] = {}

    def on_call(self, name: str, kind: Kind, q: Tensor) -> None:
        self.seen[name] = q.clone()
