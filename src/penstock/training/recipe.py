"""What is done to every member alike: how long, by which optimizer, down which loss.

All of it is plain numbers and words, frozen: a recipe can be a setting of an experiment.
"""

from dataclasses import dataclass
from typing import Literal

from penstock.errors import PenstockError
from penstock.training.schedule import Schedule

__all__ = ["SGD", "Adam", "LossName", "Optimizer", "RMSprop", "Recipe"]

LossName = Literal["cross entropy", "mean squared", "half sum of squares"]


@dataclass(frozen=True)
class SGD:
    """Gradient descent, by `torch.optim.SGD`'s formula: `v ← momentum·v + g`, `θ ← θ − rate·v`.

    >>> SGD(0.1, momentum=0.9)
    SGD(rate=0.1, momentum=0.9)
    """

    rate: float
    momentum: float = 0.0

    def __post_init__(self):
        _positive(self, "rate")
        _share(self, "momentum")


@dataclass(frozen=True)
class Adam:
    """Adam, by `torch.optim.Adam`'s formula, with its bias correction (Kingma and Ba 2015).

    >>> Adam(3e-4)
    Adam(rate=0.0003, betas=(0.9, 0.999), epsilon=1e-08)
    """

    rate: float
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8

    def __post_init__(self):
        _positive(self, "rate")
        _not_negative(self, "epsilon")
        if not all(0 <= beta < 1 for beta in self.betas):
            raise PenstockError(f"Adam's betas are at least 0 and below 1, not {self.betas}")


@dataclass(frozen=True)
class RMSprop:
    """RMSprop, by `torch.optim.RMSprop`'s formula: `s ← decay·s + (1 − decay)·g²`, `θ ← θ − rate·g/(√s + ε)`,
    with `momentum` on what is taken off.

    >>> RMSprop(1e-4)
    RMSprop(rate=0.0001, decay=0.99, epsilon=1e-08, momentum=0.0)
    """

    rate: float
    decay: float = 0.99
    epsilon: float = 1e-8
    momentum: float = 0.0

    def __post_init__(self):
        _positive(self, "rate")
        _not_negative(self, "epsilon")
        _share(self, "decay")
        _share(self, "momentum")


Optimizer = SGD | Adam | RMSprop


@dataclass(frozen=True)
class Recipe:
    """How long, by which optimizer, down which loss, in batches of which size.

    `batch=None` is the full batch: one step an epoch, without an order. Otherwise the last batch of an epoch
    is smaller where the size does not divide the number of examples.

    The losses: `"cross entropy"` and `"mean squared"` are torch's, means over a batch (the squared one over
    outputs too); `"half sum of squares"` is ½ Σ (f − y)² over the batch and its outputs, a sum and no mean:
    the loss of N Equation (1).

    `schedule` gives the factor of the optimizer's rate by epoch or by step. `stop_at` is the training
    accuracy at which a member stops, looked at after each epoch.

    >>> Recipe(epochs=20, optimizer=Adam(3e-4))
    Recipe(epochs=20, optimizer=Adam(rate=0.0003, betas=(0.9, 0.999), epsilon=1e-08), ...
    """

    epochs: int
    optimizer: Optimizer
    loss: LossName = "cross entropy"
    batch: int | None = 32
    schedule: Schedule | None = None
    stop_at: float | None = None

    def __post_init__(self):
        if self.epochs < 0:
            raise PenstockError(f"there cannot be {self.epochs} epochs; give 0 or more")
        if self.batch is not None and self.batch < 1:
            raise PenstockError(
                f"a batch has at least one example, not {self.batch}; batch=None is all of them"
            )
        if self.stop_at is not None and not 0 < self.stop_at <= 1:
            raise PenstockError(f"stop_at is a share of the training examples, not {self.stop_at}")


def _positive(optimizer: Optimizer, name: str) -> None:
    if not getattr(optimizer, name) > 0:
        raise PenstockError(_told(optimizer, name, "above 0"))


def _not_negative(optimizer: Optimizer, name: str) -> None:
    if not getattr(optimizer, name) >= 0:
        raise PenstockError(_told(optimizer, name, "0 or more"))


def _share(optimizer: Optimizer, name: str) -> None:
    if not 0 <= getattr(optimizer, name) < 1:
        raise PenstockError(_told(optimizer, name, "at least 0 and below 1"))


def _told(optimizer: Optimizer, name: str, wanted: str) -> str:
    return f"the {name} of {type(optimizer).__name__} is {wanted}, not {getattr(optimizer, name)}"
