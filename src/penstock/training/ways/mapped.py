"""Any module that draws no random numbers: `torch.func` runs one module with the stacked tensors of all."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import functional_call

from penstock.training.ways.modes import mode
from penstock.training.ways.stacking import held, moving, trained
from penstock.training.ways.way import Batch, Named, Way

__all__ = ["Mapped"]


class Mapped(Way):
    """`torch.vmap` over the members. Running statistics are each member's own, in training mode too.

    >>> repr(Mapped([nn.Linear(2, 1), nn.Linear(2, 1)]))
    'Mapped: the modules are stacked and run as one'
    """

    why = "the modules are stacked and run as one"

    def __init__(self, models: Sequence[nn.Module]):
        self._model = models[0]
        self._trained, self._held, self._moving = trained(models), held(models), moving(models)

    def parameters(self) -> dict[str, Tensor]:
        return self._trained

    def buffers(self) -> dict[str, Tensor]:
        return self._moving

    def outputs(self, parameters: Named, batch: Batch) -> Float[Tensor, "e b *o"]:
        def one(tensors: dict[str, Tensor], moving: dict[str, Tensor], x: Tensor) -> Tensor:
            return functional_call(self._model, (tensors, moving), (x,))

        run = torch.vmap(one, randomness="error")
        with mode(self._model, training=batch.training):
            return run({**self._held, **parameters}, self._moving, batch.x)
