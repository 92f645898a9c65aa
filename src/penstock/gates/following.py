"""A watch that knows the signal: it leaves alone what depends on nothing but the model."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor, nn

from penstock.gates.dependence import Dependence
from penstock.gates.watch import Watch
from penstock.model import call

__all__ = ["Following"]


class Following(Watch):
    """Runs of a model under a watch. Only calls on what depends on the input are handed to `on_call`."""

    below: ClassVar[type[Dependence]] = Dependence
    """What follows the signal, operation by operation."""

    def __init__(self, model: nn.Module):
        super().__init__(model)
        self.model = model

    def is_signal(self, q: Tensor) -> bool:
        return self.dependence.carried_by(q)

    @contextmanager
    def following(self) -> Iterator[None]:
        self.dependence = self.below(self, self.model)
        with self.dependence, self:
            yield

    def run(self, batch: Float[Tensor, "n *shape"]) -> Tensor:
        """What the model returns for this batch, of which it gets a copy: it may write into its input."""
        with self.following():
            return call(self.model, batch.clone())
