"""Many ReLU networks in one module: example s goes through network s.

A statement about random networks at their start wants thousands of small ones; one after another, most of the
time would go into calling them.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Generator, Tensor, nn
from torch.nn import functional

from penstock.errors import PenstockError
from penstock.lab.models.initialization import Bernoulli, Gaussian

__all__ = ["NetworksAbreast"]


class NetworksAbreast(nn.Module):
    """`count` ReLU networks of these widths, without biases. Takes and gives one row for each network.

    The law is one whose size is given: another one would read fans off a shape that has three dimensions.

    >>> networks = NetworksAbreast(3, (4, 8, 1), Gaussian(0.5), torch.Generator().manual_seed(0))
    >>> networks(torch.ones(3, 4, dtype=torch.float64)).shape
    torch.Size([3, 1])
    """

    def __init__(
        self,
        count: int,
        widths: Sequence[int],
        law: Bernoulli | Gaussian,
        generator: Generator,
        *,
        dtype: torch.dtype = torch.float64,
    ):
        super().__init__()
        if count < 1 or len(widths) < 2 or min(widths) < 1:
            raise PenstockError(f"{count} networks of widths {tuple(widths)} are none; give positive numbers")
        weights = [
            nn.Parameter(law.draw((count, fan_out, fan_in), generator, dtype))
            for fan_in, fan_out in pairwise(widths)
        ]
        self.weights = nn.ParameterList(weights)

    def forward(self, x: Float[Tensor, "n inputs"]) -> Float[Tensor, "n outputs"]:
        *hidden, last = self.weights
        for weight in hidden:
            x = functional.relu(torch.bmm(weight, x.unsqueeze(2)).squeeze(2))
        return torch.bmm(last, x.unsqueeze(2)).squeeze(2)
