"""The weights that a network's paths are strings of, each with a number."""

import bisect
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int64
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


class Alphabet:
    """Numbers every weight: the entries of a tensor one after the other, constants by their value."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._named: dict[str | float, list[Block]] = {}

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

    def number(self, weight: Weight, entries: Int64[np.ndarray, " edges"]) -> Int64[np.ndarray, " edges"]:
        """The numbers of these entries of a weight's tensor."""
        if not weight.fixed:
            return self._block(weight.name, weight.values).first + entries
        values = weight.values.detach().double().cpu().flatten().numpy()[entries]
        constants, which = np.unique(values, return_inverse=True)
        blocks = [
            self._block(constant, torch.tensor(constant, dtype=torch.float64))
            for constant in constants.tolist()
        ]
        return np.array([block.first for block in blocks], dtype=np.int64)[which.reshape(-1)]

    def values(self, like: Tensor) -> Float[Tensor, " weights"]:
        """Every weight, on the device and in the dtype of a tensor."""
        parts = [block.values.flatten().to(like) for block in self.blocks]
        return torch.cat([like.new_empty(0), *parts])

    def _block(self, key: str | float, values: Tensor) -> Block:
        """The block of a name or constant; another, where one name stands for several tensors."""
        same_name = self._named.setdefault(key, [])
        for block in same_name:
            if block.values is values or torch.equal(block.values, values):
                return block
        same_name.append(Block(key if isinstance(key, str) else "", values, len(self)))
        self.blocks.append(same_name[-1])
        return same_name[-1]
