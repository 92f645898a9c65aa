"""Fully connected networks: ReLU between the layers, one output unless told."""

from itertools import pairwise

import torch
from torch import Tensor, nn


def fully_connected(
    *widths: int, bias: bool = False, seed: int = 0, dtype: torch.dtype = torch.float64
) -> nn.Sequential:
    """`fully_connected(2, 3, 3, 1)` is the network of N Figure 1."""
    torch.manual_seed(seed)
    layers: list[nn.Module] = []
    for fan_in, fan_out in pairwise(widths):
        layers += [nn.Linear(fan_in, fan_out, bias=bias), nn.ReLU()]
    return nn.Sequential(*layers[:-1]).to(dtype)


class Skipping(nn.Module):
    """Three hidden layers, with an identity skip over the middle one."""

    def __init__(self, inputs: int = 3, width: int = 4, outputs: int = 1, bias: bool = True):
        super().__init__()
        self.first = nn.Linear(inputs, width, bias=bias)
        self.middle = nn.Linear(width, width, bias=bias)
        self.last = nn.Linear(width, outputs, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(self.first(x))
        return self.last(torch.relu(self.middle(h) + h))
