"""Circular convolutions, pooled over all positions (D Section 4, Figure 9).

Every layer is one kernel of ŵ weights that moves round a ring of d_in positions; a gate follows each, and the
mean over positions ends the network. D counts that mean as a layer: d is the number of convolutions plus one.
So there are d_in ŵ^(d-1) paths with ŵ^(d-1) different strengths: the d_in rotations of a path carry the same
weights, a *bundle*.
"""

import torch
from jaxtyping import Float
from torch import Generator, Tensor, nn
from torch.nn import functional

from penstock.errors import PenstockError
from penstock.lab.models.initialization import Law

__all__ = ["CircularNetwork"]


class CircularNetwork(nn.Module):
    """`convolutions` circular convolutions of one channel with ReLU, then the mean over positions.

    Takes examples × 1 × positions and gives examples × 1. Position i of a layer reads the positions i, i+1,
    …, i+ŵ-1 of the layer below, counted round the ring.
    """

    def __init__(
        self,
        positions: int,
        kernel: int,
        convolutions: int,
        law: Law,
        generator: Generator,
        *,
        dtype: torch.dtype = torch.float64,
    ):
        super().__init__()
        if not 1 <= kernel <= positions:
            raise PenstockError(
                f"a kernel of {kernel} does not go round {positions} positions; give 1 to {positions}"
            )
        if convolutions < 1:
            raise PenstockError(f"convolutions={convolutions} is no network; give 1 or more")
        self.positions = positions
        self.kernel = kernel
        self.convolutions = nn.ModuleList()
        for _ in range(convolutions):
            convolution = nn.Conv1d(1, 1, kernel, bias=False, device="meta")
            convolution.weight = nn.Parameter(law.draw((1, 1, kernel), generator, dtype))
            self.convolutions.append(convolution)

    def forward(self, x: Float[Tensor, "n 1 positions"]) -> Float[Tensor, "n 1"]:
        for convolution in self.convolutions:
            around = functional.pad(x, (0, self.kernel - 1), mode="circular")
            x = functional.relu(convolution(around))
        return x.mean(dim=-1)
