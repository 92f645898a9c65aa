"""Schedules: the factor by which an optimizer's rate is multiplied, by epoch or by step."""

import math
from dataclasses import dataclass

from penstock.errors import PenstockError

__all__ = ["Constant", "Cosine", "Drops", "Schedule"]


@dataclass(frozen=True)
class Constant:
    """The rate as it is.

    >>> Constant().factor(epoch=7, progress=0.35)
    1.0
    """

    def factor(self, epoch: int, progress: float) -> float:
        return 1.0


@dataclass(frozen=True)
class Drops:
    """`by` for each epoch of `at` that is over: `torch.optim.lr_scheduler.MultiStepLR`.

    >>> [Drops(at=(2, 4), by=0.5).factor(epoch, 0.0) for epoch in range(5)]
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    at: tuple[int, ...]
    by: float = 0.1

    def __post_init__(self):
        if not self.by > 0:
            raise PenstockError(f"a rate drops by a factor above 0, not {self.by}")

    def factor(self, epoch: int, progress: float) -> float:
        return self.by ** sum(epoch >= at for at in self.at)


@dataclass(frozen=True)
class Cosine:
    """From 1 to `end` along half a cosine, step by step over the whole training (Loshchilov and Hutter
    2017, without restarts).

    >>> round(Cosine().factor(epoch=0, progress=0.5), 3)
    0.5
    """

    end: float = 0.0

    def __post_init__(self):
        if not self.end >= 0:
            raise PenstockError(f"a rate ends at a factor of 0 or more, not {self.end}")

    def factor(self, epoch: int, progress: float) -> float:
        return self.end + (1 - self.end) * (1 + math.cos(math.pi * progress)) / 2


Schedule = Constant | Drops | Cosine
"""`factor(epoch, progress)`: `epoch` counts from 0; `progress` is the share of all steps that are over."""
