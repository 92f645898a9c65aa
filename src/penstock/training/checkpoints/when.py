"""Where checkpoints lie, and how often one is written."""

from dataclasses import dataclass
from pathlib import Path

from penstock.errors import PenstockError

__all__ = ["Checkpoints"]


@dataclass(frozen=True)
class Checkpoints:
    """A folder, and how many seconds or epochs go by between two checkpoints. The last two are kept.

    One is also written at Ctrl-C and at the end; a training that has ended is read from there.

    >>> Checkpoints(Path("runs/checkpoints"), seconds=600, epochs=10)
    Checkpoints(folder=PosixPath('runs/checkpoints'), seconds=600, epochs=10)
    """

    folder: Path
    seconds: float | None = 60.0
    epochs: int | None = None

    def __post_init__(self):
        if self.seconds is not None and self.seconds < 0:
            raise PenstockError(f"between two checkpoints there are 0 seconds or more, not {self.seconds}")
        if self.epochs is not None and self.epochs < 1:
            raise PenstockError(f"between two checkpoints there is at least 1 epoch, not {self.epochs}")
