"""All parameters of an ensemble in one long tensor, and their gradients in another.

So a step of the optimizer is one operation, however many layers and members there are. Each parameter is one
stretch of it, E × shape without gaps, which stacked products like best.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Int
from torch import Tensor

__all__ = ["Flat"]

# A parameter begins at a multiple of 64 bytes in float32, where vector instructions like to read.
_ALIGNED = 16


class Flat:
    """`numbers` and `gradients` hold everything; `parameters` and `slopes` are views of them by name."""

    def __init__(self, named: Mapping[str, Tensor]):
        self._stretches: dict[str, slice] = {}
        end = 0
        for name, stacked in named.items():
            self._stretches[name] = slice(end, end + stacked.numel())
            end += -(-stacked.numel() // _ALIGNED) * _ALIGNED
        first = next(iter(named.values()))
        self.members = len(first)
        self.numbers: Float[Tensor, " p"] = first.new_zeros(end)
        self.gradients: Float[Tensor, " p"] = first.new_zeros(end)
        self.parameters = self._views(self.numbers, named)
        self.slopes = self._views(self.gradients, named)
        for name, stacked in named.items():
            self.parameters[name].copy_(stacked)

    def owners(self) -> Int[Tensor, " p"]:
        """Which member each number belongs to."""
        owners = torch.zeros_like(self.numbers, dtype=torch.int64)
        for stretch in self._stretches.values():
            count = stretch.stop - stretch.start
            each = torch.arange(self.members, device=owners.device)
            owners[stretch] = each.repeat_interleave(count // self.members)
        return owners

    def _views(self, numbers: Tensor, named: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {name: numbers[self._stretches[name]].view(named[name].shape) for name in named}
