"""The proof that a record holds all gates of a model.

With its gates held, a ReLU network is an affine map of its input, and an affine map satisfies
f(x + u) + f(x - u) = 2 f(x) for every u, of any size. A gate that the record does not hold bends it. So the
model runs in float64 with the record's gates in the place of its own, at x and at x ± u, for random u of 1,
10³ and 10⁶ times the size of x: a hidden gate whose bias outweighs its signal does not flip at |u| = |x|, but
it does further out.

To run x itself once more with its recorded gates would prove nothing: a gate that was missed opens the same
way again.
"""

from collections.abc import Mapping

import numpy as np
import torch
from jaxtyping import Float, Float64, Shaped
from torch import Tensor, nn
from torch.utils.data import DataLoader

from penstock.errors import PenstockError
from penstock.gates.belonging import as_called
from penstock.gates.bend import first_bend
from penstock.gates.holding import Holding
from penstock.gates.record import GateRecord
from penstock.gates.rows import Rows
from penstock.gates.unseen import check_visible
from penstock.model import batches, check, describe, eager, how_many, left_as_found
from penstock.model.copies import float64_copy

__all__ = ["prove"]

_SIZES = (1.0, 1e3, 1e6)
_TOLERANCE = 1e-9
# What float64 loses in the sum itself, where f hardly moves beside its own size.
_ROUNDING = 1e-14
# An example whose f(x + u) - f(x - u) happens to cancel is measured by what the others move.
_CANCELLED = 1e-3


def prove(record: GateRecord, model: nn.Module, x: Tensor | np.ndarray | DataLoader) -> None:
    """Returns where `record` holds all gates of `model` at x; else the refusal names the first call that is
    not affine.

    For every example, ‖f(x + u) + f(x - u) - 2 f(x)‖ must be at most 1e-9 of ‖f(x + u) - f(x - u)‖. Refused
    by this are gates written by hand, and all that is neither affine nor a gate: sigmoid, soft-max,
    LayerNorm.
    """
    check(model)
    check_visible(model)
    total = how_many(x)
    if total is not None and total != record.examples:
        raise _other_number(record, total)
    rows: dict[str, Rows] | None = None
    done = 0
    with left_as_found(model), torch.no_grad(), eager():
        copied = float64_copy(model)
        directions = torch.Generator().manual_seed(0)
        for batch in batches(model, x):
            if done + len(batch) > record.examples:
                raise _other_number(record, done + len(batch))
            part = record.select(slice(done, done + len(batch)))
            done += len(batch)
            rows, patterns = as_called(part, model, batch, rows)
            with torch.autocast(batch.device.type, enabled=False):
                _Affinity(copied, part, rows, patterns, batch.double()).check(directions)
        if done != record.examples:
            raise _other_number(record, done)


def _other_number(record: GateRecord, given: int) -> PenstockError:
    return PenstockError(
        f"the record holds {record.examples} examples and x has {given}; give the inputs that it was "
        "captured from, or record.select the ones that x has"
    )


class _Affinity:
    """One batch of the proof."""

    def __init__(
        self,
        model: nn.Module,
        record: GateRecord,
        rows: Mapping[str, Rows],
        patterns: Mapping[str, Shaped[Tensor, "..."]],
        x: Float64[Tensor, "n *shape"],
    ):
        self.model, self.record, self.rows, self.x = model, record, rows, x
        self.held = Holding(model, patterns)

    def check(self, directions: torch.Generator) -> None:
        at = self._run(self.x)
        for size in _SIZES:
            u = _direction(self.x, size, directions)
            plus, minus = self._run(self.x + u), self._run(self.x - u)
            bent, allowed = _norm(plus + minus - 2 * at), _allowed(at, plus, minus, _norm(u))
            # a comparison that NaN fails too
            wrong = ~(bent <= allowed)
            if bool(wrong.any()):
                share = torch.where(wrong, bent / _norm(plus - minus), 0).nan_to_num(
                    torch.inf, posinf=torch.inf
                )
                row = int(share.argmax())
                raise self._refusal(row, u, size, float(share[row]))

    def _run(self, x: Float64[Tensor, "n *shape"]) -> Float64[Tensor, "n outputs"]:
        y = self.held.run(x)
        if not y.is_floating_point():
            raise PenstockError(
                f"{describe('', self.model)} returns {y.dtype}, and numbers that can be affine are needed"
            )
        return y.double().reshape(len(x), -1)

    def _refusal(self, row: int, u: Tensor, size: float, share: float) -> PenstockError:
        alone = self.record.select(row)
        patterns = {name: self.rows[name].back(alone[name].pattern().to(u.device)) for name in alone}
        where = first_bend(self.model, patterns, self.x[row : row + 1], u[row : row + 1])
        return PenstockError(
            f"with the record's gates held, {where} is not affine, so these are not all gates of the model; "
            f"write it with torch.relu or its kin, or leave it out of what is verified (for row {row} of x "
            f"and |u| = {size:g} |x|, f(x+u) + f(x-u) is {share:.1g} ‖f(x+u) - f(x-u)‖ away from 2f(x))"
        )


def _direction(
    x: Float64[Tensor, "n *shape"], size: float, generator: torch.Generator
) -> Float64[Tensor, "n *shape"]:
    """A random u for each example, `size` times as long as its x (or as 1, where x is zero)."""
    u = torch.randn(x.shape, dtype=x.dtype, generator=generator).to(x.device)
    length = _norm(x)
    factor = size * torch.where(length > 0, length, 1) / _norm(u)
    return u * factor.reshape(-1, *(1 for _ in x.shape[1:]))


def _allowed(at: Tensor, plus: Tensor, minus: Tensor, length: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    """How far each example may be off."""
    moved = _norm(plus - minus)
    usual = _CANCELLED * (moved / length).max() * length
    return _TOLERANCE * torch.maximum(moved, usual) + _ROUNDING * (_norm(plus) + _norm(minus) + 2 * _norm(at))


def _norm(tensor: Float[Tensor, "n *shape"]) -> Float[Tensor, " n"]:
    return torch.linalg.vector_norm(tensor.flatten(1), dim=1)
