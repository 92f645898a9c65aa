"""The toy of N Figure 1: two inputs, two hidden layers of three gates, one output, eighteen paths.

The paper's gates are hypothetical. These weights and inputs realise gates of that kind with small whole
numbers: the first two inputs share unit 1 of the first hidden layer and unit 3 of the second, and nothing
else, so that exactly the paths p3 and p12 are open for both; the third shares no path with the first.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

__all__ = ["toy_inputs", "toy_network"]

_WEIGHTS = (
    ((0, 1), (2, -1), (-2, -1)),
    ((-1, -1, 2), (-1, 1, -2), (4, -1, -1)),
    ((1, -2, 3),),
)
_INPUTS = ((2, 1), (-2, 1), (-1, -3))


def toy_network(dtype: torch.dtype = torch.float64) -> nn.Sequential:
    """The network of N Figure 1 (a), without biases."""
    modules: list[nn.Module] = []
    for weight in _WEIGHTS:
        layer = nn.Linear(len(weight[0]), len(weight), bias=False, device="meta")
        layer.weight = nn.Parameter(torch.tensor(weight, dtype=dtype))
        modules += [layer, nn.ReLU()]
    return nn.Sequential(*modules[:-1])


def toy_inputs(dtype: torch.dtype = torch.float64) -> Float[Tensor, "3 2"]:
    """Three inputs with three different active sub-networks, as in N Figure 1 (h) to (j)."""
    return torch.tensor(_INPUTS, dtype=dtype)
