"""What a training is asked to look at on its way."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from penstock.errors import PenstockError

__all__ = ["Asked", "Follow"]

Follow = Callable[[Iterable[Any], str, int | None], Iterator[Any]]
"""A progress bar: gives the same steps, followed. It is told what they are, and how many."""

_OWN = {"epoch", "train_loss", "train_accuracy", "test_loss", "test_accuracy", "seconds", "member"}


@dataclass(frozen=True)
class Asked:
    """When to evaluate, what to keep and whom to tell."""

    evaluate_at: int | frozenset[int] = 1
    snapshots: frozenset[int] = frozenset()
    also: Mapping[str, Callable[[nn.Module], Any]] = field(default_factory=dict)
    each_step: Callable[[int, int], None] | None = None
    journal: Callable[..., None] | None = None
    progress: Follow | None = None

    def __post_init__(self):
        for name in self.also:
            if name in _OWN:
                raise PenstockError(
                    f"a measurement cannot be called {name!r}, as the history has one of that name; rename it"
                )
        if isinstance(self.evaluate_at, int) and self.evaluate_at < 1:
            raise PenstockError(
                f"an evaluation comes every so many epochs, at least every 1, not every {self.evaluate_at}"
            )

    def evaluates(self, epoch: int, epochs: int) -> bool:
        """Whether after this epoch, of so many. The last one is always evaluated."""
        if epoch == epochs:
            return True
        if isinstance(self.evaluate_at, int):
            return epoch % self.evaluate_at == 0
        return epoch in self.evaluate_at

    def follow(self, steps: Iterable[Any], what: str, total: int) -> Iterator[Any]:
        return iter(steps) if self.progress is None else self.progress(steps, what, total)
