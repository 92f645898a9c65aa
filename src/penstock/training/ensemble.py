"""Members of one shape in the middle of their training."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from penstock.training.deferred import Deferred
from penstock.training.diagnosis import first_not_finite
from penstock.training.examples import Examples
from penstock.training.flat import Flat
from penstock.training.losses import LOSSES
from penstock.training.member import Member
from penstock.training.optimizing import Optimizing
from penstock.training.orders import Orders
from penstock.training.recipe import Recipe
from penstock.training.stepping import Rows, Stepping
from penstock.training.trained import Diverged, Trained
from penstock.training.ways.way import Way

__all__ = ["Ensemble"]

# Steps that a GPU takes between two looks.
_UNSEEN = 64


class Ensemble:
    """E members, evaluated by one way and moved by one optimizer.

    `epoch` is the number of epochs that are over, `step` that of the steps taken in the one that is not.
    `deferred`: whether members are looked at only now and then; by default on a GPU.
    """

    def __init__(
        self,
        members: Sequence[Member],
        way: Way,
        train: Examples,
        recipe: Recipe,
        *,
        deferred: bool | None = None,
    ):
        self.members, self.way, self.recipe, self.train = members, way, recipe, train
        self.models = [member.model for member in members]
        self.flat = Flat(way.parameters())
        self.buffers = way.buffers()
        optimizers = [each.optimizer or recipe.optimizer for each in members]
        self.optimizing = Optimizing(self.flat, optimizers, scheduled=recipe.schedule is not None)
        self.loss = LOSSES[recipe.loss]
        self.stepping = Stepping(way, self.flat, self.optimizing, self.loss, train)
        self.orders = Orders([each.seed for each in members], train.count)
        self.trained = [Trained(each.name, each.model, repr(way)) for each in members]
        self.rows: list[dict[str, list]] = [{} for _ in members]
        self.seconds = 0.0
        self.epoch = self.step = 0
        self.saved: Path | None = None
        """The last checkpoint."""
        self._kept: dict[int, dict[str, Tensor]] = {}
        self._deferred = None
        if train.x.is_cuda if deferred is None else deferred:
            self._deferred = Deferred(self.stepping, self.flat, self.buffers, capturable=way.capturable)
        self._unseen: list[Rows] = []

    @property
    def steps_an_epoch(self) -> int:
        return 1 if self.recipe.batch is None else -(-self.train.count // self.recipe.batch)

    @property
    def taken(self) -> int:
        """The steps taken in all."""
        return self.epoch * self.steps_an_epoch + self.step

    @property
    def going(self) -> list[int]:
        """The members that are still in training."""
        return [
            place for place, each in enumerate(self.trained) if each.stopped is None and each.diverged is None
        ]

    def begin_epoch(self) -> None:
        """Draw the order; count from zero, unless this goes on where a checkpoint was written."""
        if self.step == 0:
            self.stepping.totals.zero_()
        self._order = self.orders.draw() if self.recipe.batch is not None else None

    def batches(self) -> Iterator[Rows]:
        """The rest of the epoch."""
        if self._order is None or self.recipe.batch is None:
            yield from [slice(0, self.train.count)][self.step :]
            return
        size = self.recipe.batch
        whole = self.train.count // size
        device = self.train.x.device
        order = self._order.to(device)
        # contiguous rows for each step, made once
        blocks = order[:, : whole * size].unflatten(1, (whole, size)).transpose(0, 1).contiguous()
        yield from blocks[self.step :]
        if whole * size < self.train.count and self.step <= whole:
            yield order[:, whole * size :].contiguous()

    def take(self, rows: Rows) -> None:
        """One step of every member that is still in training."""
        if self.recipe.schedule is not None:
            progress = self.taken / (self.recipe.epochs * self.steps_an_epoch)
            self.optimizing.scale(self.recipe.schedule.factor(self.epoch, progress))
        if self._deferred is not None:
            self._deferred.take(rows)
            self._unseen.append(rows)
        else:
            self.stepping.gradients(rows)
            self._look_for_divergence(rows)
            self.stepping.move()
            self._hold_still()
        self.step += 1
        if len(self._unseen) >= _UNSEEN:
            self.settle()

    def settle(self) -> None:
        """Look at what a GPU has done since the last look: which members have diverged."""
        if self._deferred is None:
            return
        good = self._deferred.good.tolist()
        for place in self.going:
            late = self._deferred.taken - good[place]
            if late:
                self._diverge(place, self._unseen[-late], self.taken - late + 1)
        self._unseen.clear()

    def end_epoch(self) -> None:
        self.epoch, self.step = self.epoch + 1, 0
        self.orders.close()

    def averages(self) -> Float[Tensor, "2 e"]:
        """Loss and accuracy over the batches of the epoch, each seen before its step."""
        loss, right = self.stepping.totals.cpu()
        count = self.train.count
        return torch.stack([loss / count if self.loss.mean else loss, right / count])

    def stop(self, place: int) -> None:
        """From here on the member stays as it is."""
        if self._deferred is not None:
            self._deferred.alive[place] = False
            return
        named = {**self.flat.parameters, **self.buffers}
        self._kept[place] = {name: stacked[place].clone() for name, stacked in named.items()}

    def state_of(self, place: int) -> dict[str, Tensor]:
        """A copy of the member's `state_dict` as it is now."""
        return {name: tensor.detach().clone() for name, tensor in self.models[place].state_dict().items()}

    def _look_for_divergence(self, rows: Rows) -> None:
        losses = self.stepping.totals[0].tolist()
        # a sum is not finite from the first loss on that is not
        for place in self.going:
            if not abs(losses[place]) < float("inf"):
                self._diverge(place, rows, self.taken + 1)

    def _diverge(self, place: int, rows: Rows, step: int) -> None:
        rows = rows if isinstance(rows, slice) else rows[place]
        self.trained[place].diverged = Diverged(
            epoch=self.epoch + 1,
            step=step,
            where=first_not_finite(self.models[place], self.train.x[rows]),
            checkpoint=self.saved,
        )
        self.stop(place)

    def _hold_still(self) -> None:
        for place, kept in self._kept.items():
            for name, tensor in kept.items():
                where = self.flat.parameters if name in self.flat.parameters else self.buffers
                where[name][place] = tensor
