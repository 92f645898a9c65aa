"""One step of an ensemble: the gradients of every member on its batch, then the optimizer."""

import torch
from jaxtyping import Float
from torch import Tensor

from penstock.training.accuracy import hits
from penstock.training.examples import Examples
from penstock.training.flat import Flat
from penstock.training.losses import Loss
from penstock.training.optimizing import Optimizing
from penstock.training.ways.way import Batch, Way

__all__ = ["Rows", "Stepping"]

Rows = Tensor | slice
"""E × B, each member's own examples; or a slice that all members take."""


class Stepping:
    """`totals` grows with each step: the losses of all examples seen, and how many were right, by member. A
    loss that is not finite stays there to be seen."""

    def __init__(self, way: Way, flat: Flat, optimizing: Optimizing, loss: Loss, train: Examples):
        self._way, self._flat, self._optimizing, self._loss, self._train = way, flat, optimizing, loss, train
        self._members = flat.members
        self.totals: Float[Tensor, "2 e"] = torch.zeros(
            2, self._members, dtype=torch.float64, device=flat.numbers.device
        )
        self._losses, self._right = self.totals

    def gradients(self, rows: Rows) -> None:
        """Of each member's loss on these examples, as it is before the step."""
        x, wanted = self._examples(rows)

        def slope(outputs: Tensor) -> Tensor:
            each, slopes = self._loss.with_slope(outputs, wanted)
            self._losses.add_(each.sum(1))
            self._right.add_(hits(outputs, wanted).sum(1))
            return slopes

        batch = Batch("train", rows, x, training=True)
        self._way.gradients(self._flat.parameters, batch, slope, self._flat.slopes)

    def move(self) -> None:
        """The optimizer's step, along the gradients that are there."""
        self._optimizing.step()

    def _examples(self, rows: Rows) -> tuple[Tensor, Tensor]:
        if isinstance(rows, slice):
            x, y = self._train.x[rows], self._train.y[rows]
            return x.expand(self._members, *x.shape), y.expand(self._members, *y.shape)
        each = rows.reshape(-1)
        x, y = (whole.index_select(0, each).view(*rows.shape, *whole.shape[1:]) for whole in self._train)
        return x, y
