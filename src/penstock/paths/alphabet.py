"""The weights that a network's paths are strings of, each with a number."""

import bisect
import math
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from penstock.walk.site import Weight

__all__ = ["Alphabet", "Block", "Letter"]


@dataclass(frozen=True)
class Letter:
    """One weight of a path: an entry of a tensor, or a constant (then without a name)."""

    name: str
    index: tuple[int, ...]
    constant: float | None = None

    def __str__(self) -> str:
        if self.constant is not None:
            return f"{self.constant:g}"
        return f"{self.name}[{', '.join(map(str, self.index))}]" if self.index else self.name

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class Block:
    """A tensor whose entries are letters with successive numbers."""

    name: str
    values: Tensor
    first: int


@dataclass(eq=False)
class Alphabet:
    """Numbers every weight: entries of a tensor one after the other, constants by their value."""

    blocks: list[Block] = field(default_factory=list)
    _named: dict[str | float, Block] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.blocks[-1].first + self.blocks[-1].values.numel() if self.blocks else 0

    def __getitem__(self, number: int) -> Letter:
        if not 0 <= number < len(self):
            raise IndexError(f"there is no weight {number}")
        block = self.blocks[bisect.bisect_right(self.blocks, number, key=lambda block: block.first) - 1]
        if not block.name:
            return Letter("", (), float(block.values))
        index = np.unravel_index(number - block.first, tuple(block.values.shape))
        return Letter(block.name, tuple(map(int, index)))

    def number(self, weight: Weight, entries: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of these entries of a weight's tensor."""
        if not weight.fixed:
            return self._block(weight.name, weight.values).first + entries
        constants, which = np.unique(weight.values.detach().double().cpu().flatten().numpy()[entries], return_inverse=True)
        blocks = [self._block(float(c), torch.tensor(c, dtype=torch.float64)) for c in constants]
        return np.array([block.first for block in blocks], dtype=np.int64)[which.reshape(-1)]

    def values(self, like: Tensor) -> Float[Tensor, " weights"]:
        """Every weight, on the device and in the dtype of a tensor; under autograd, differentiable."""
        parts = [block.values.flatten().to(like) for block in self.blocks]
        return torch.cat(parts) if parts else like.new_zeros(0)

    def _block(self, key: str | float, values: Tensor) -> Block:
        if key not in self._named:
            name = key if isinstance(key, str) else ""
            self._named[key] = Block(name, values, len(self))
            self.blocks.append(self._named[key])
        return self._named[key]
