"""How far one parameter moves each unit, slow and obvious: one gradient a unit and example."""

from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = ["largest_gradient"]


def largest_gradient(q: Tensor, parameters: Sequence[Tensor]) -> Tensor:
    """max_θ |∂q/∂θ| of every entry of q, which autograd has followed from the parameters."""
    flat = q.flatten()
    largest = torch.zeros_like(flat)
    for entry in range(len(flat)):
        found = torch.autograd.grad(flat[entry], list(parameters), retain_graph=True, allow_unused=True)
        largest[entry] = max(float(each.abs().max()) for each in found if each is not None)
    return largest.reshape(q.shape).detach()
