"""What became of a member."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from torch import Tensor, nn

__all__ = ["Best", "Diverged", "Trained"]


class Best(NamedTuple):
    """The epoch of the highest test accuracy, the first of them; and that accuracy."""

    epoch: int
    accuracy: float


@dataclass(frozen=True)
class Diverged:
    """Where and when a member's loss stopped being a number.

    >>> print(Diverged(1, 7, "the parameter 0.weight is not finite", None))
    diverged at step 7 (epoch 1): the parameter 0.weight is not finite
    """

    epoch: int
    """Counted from 1."""
    step: int
    """The step of the whole training whose loss is not finite, counted from 1; it was not taken."""
    where: str
    """The first parameter or layer, in order, that is not finite."""
    checkpoint: Path | None
    """The last checkpoint before, if there is one."""

    def __str__(self) -> str:
        kept = f"; the last good checkpoint is {self.checkpoint}" if self.checkpoint else ""
        return f"diverged at step {self.step} (epoch {self.epoch}): {self.where}{kept}"


@dataclass
class Trained:
    """A member after its training; `model` is the module that was given, with the trained weights in it."""

    name: str
    model: nn.Module
    way: str
    """How it was evaluated, and why so."""
    history: dict[str, np.ndarray] = field(default_factory=dict)
    """One entry an evaluation: `epoch`, `train_loss` and `train_accuracy` (over the batches of the epoch,
    each seen before its step), `test_loss`, `test_accuracy`, `seconds` since the training began, and what
    `also` gave."""
    best: Best | None = None
    """None without a test set that says what is right, or before the first evaluation."""
    best_state: dict[str, Tensor] | None = None
    """The weights at `best`."""
    snapshots: dict[int, dict[str, Tensor]] = field(default_factory=dict)
    """The weights after the epochs that were asked for; 0 is the start."""
    diverged: Diverged | None = None
    """None where all went well."""
    stopped: int | None = None
    """The epoch at which it reached `stop_at`."""
