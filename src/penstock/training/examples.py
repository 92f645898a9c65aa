"""What a network is trained on: inputs and what is wanted for each."""

from typing import NamedTuple

import torch
from jaxtyping import Num, Shaped
from torch import Tensor

from penstock.errors import PenstockError

__all__ = ["Examples"]


class _Pair(NamedTuple):
    x: Num[Tensor, "n *shape"]
    y: Num[Tensor, "n *targets"]


class Examples(_Pair):
    """Inputs `x` and what is wanted for them, `y`: one row an example, class labels in int64 or targets in
    floating point.

    It unpacks as a pair, `x, y = examples`, so its `len` is 2; the number of examples is `.count`.

    >>> examples = Examples(torch.randn(8, 2), torch.arange(8))
    >>> examples.count
    8
    >>> examples.select(slice(0, 3)).y
    tensor([0, 1, 2])
    """

    __slots__ = ()

    def __new__(cls, x: Num[Tensor, "..."], y: Num[Tensor, "..."]) -> "Examples":
        if x.ndim == 0 or y.ndim == 0:
            raise PenstockError("x and y have one row an example, and a single number has no rows")
        if len(x) != len(y):
            raise PenstockError(
                f"x has {len(x):,} examples and y has {len(y):,}; give each input what is wanted for it"
            )
        return super().__new__(cls, x, y)

    # in place of the tuple's own `count`, which looks for equal members and can say nothing of tensors
    @property
    def count(self) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The number of examples."""
        return len(self.x)

    def select(self, rows: Shaped[Tensor, " k"] | slice) -> "Examples":
        """The examples of these rows: their numbers, a mask, or a slice."""
        return Examples(self.x[rows], self.y[rows])

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> "Examples":
        """On another device, and in another dtype: that of x, and of y where it is in floating point; class
        labels stay whole numbers.

        >>> Examples(torch.zeros(2, 3), torch.tensor([4, 7])).to(dtype=torch.float64).y.dtype
        torch.int64
        """
        targets = dtype if self.y.is_floating_point() else None
        return Examples(self.x.to(device, dtype), self.y.to(device, targets))
