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
    dependence: Dependence | None = None
    """There while the signal is followed."""

    def __init__(self, model: nn.Module):
        super().__init__(model)
        self.model = model

    def is_signal(self, q: Tensor) -> bool:
        return self.dependence is None or self.dependence.carried_by(q)

    @contextmanager
    def following(self) -> Iterator[None]:
        """Inside, the model is watched. A refusal gets out, whatever the model or torch made of it on its
        way."""
        self.dependence = self.below(self, self.model)
        try:
            with self.dependence, self:
                yield
        except Exception:
            if self.refusal is not None:
                raise self.refusal from None
            raise
        finally:
            self.dependence = None
        if self.refusal is not None:
            raise self.refusal

    def run(self, batch: Float[Tensor, "n *shape"]) -> Tensor:
        """What the model returns for this batch, of which it gets a copy: it may write into its input."""
        # copied before anything is followed, so that nothing the model may have kept of it counts as held
        batch = batch.clone()
        with self.following():
            return call(self.model, batch)
