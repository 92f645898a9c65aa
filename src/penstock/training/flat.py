"""All parameters of an ensemble in one E × numbers tensor, and their gradients in another.

So a step of the optimizer is one operation, however many layers there are. Each parameter is a view, E ×
shape, into its columns.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

__all__ = ["Flat"]

# A parameter begins at a multiple of 64 bytes in float32, where vector instructions like to read.
_ALIGNED = 16


class Flat:
    """`numbers` and `gradients` are E × numbers; `parameters` and `slopes` are views of them by name."""

    def __init__(self, named: Mapping[str, Tensor]):
        self.columns: dict[str, slice] = {}
        end = 0
        for name, stacked in named.items():
            count = stacked[0].numel()
            self.columns[name] = slice(end, end + count)
            end += -(-count // _ALIGNED) * _ALIGNED
        first = next(iter(named.values()))
        self.numbers: Float[Tensor, "e p"] = first.new_zeros(len(first), end)
        self.gradients: Float[Tensor, "e p"] = torch.zeros_like(self.numbers)
        self.parameters = self._views(self.numbers, named)
        self.slopes = self._views(self.gradients, named)
        for name, stacked in named.items():
            self.parameters[name].copy_(stacked)

    def _views(self, numbers: Tensor, named: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {name: numbers[:, self.columns[name]].view(named[name].shape) for name in named}
