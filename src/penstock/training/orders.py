"""In which order a member sees the data: a permutation an epoch, drawn from a generator of its own."""

from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor

__all__ = ["Orders"]


class Orders:
    """The orders of E members, on the CPU whatever the device, so that a seed means one order everywhere.

    `state` is that of the generators before the epoch that is not over: what it takes to draw it again.
    """

    def __init__(self, seeds: Sequence[int], examples: int):
        self.examples = examples
        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self.state = self._states()

    def draw(self) -> Int[Tensor, "e n"]:
        """The next epoch's order: one row a member."""
        self.close()
        return torch.stack([torch.randperm(self.examples, generator=each) for each in self._generators])

    def close(self) -> None:
        """The epoch is over: what is drawn next is another one."""
        self.state = self._states()

    def restore(self, state: Tensor) -> None:
        """Draw next what was drawn after `state`."""
        for generator, row in zip(self._generators, state, strict=True):
            # torch reads a state from the start of its storage
            generator.set_state(row.clone())
        self.state = state

    def _states(self) -> Tensor:
        return torch.stack([generator.get_state() for generator in self._generators])
