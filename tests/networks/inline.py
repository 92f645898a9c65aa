"""A network that is one function of its input and a parameter: for operations that no layer has."""

from collections.abc import Callable

import torch
from torch import Tensor, nn


class Inline(nn.Module):
    """`function(x, w)`, with a parameter of 4 × 4."""

    def __init__(self, function: Callable[[Tensor, Tensor], Tensor], seed: int = 0):
        torch.manual_seed(seed)
        super().__init__()
        self.function = function
        self.w = nn.Parameter(torch.randn(4, 4, dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x, self.w)
