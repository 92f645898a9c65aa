"""The tangent kernel by its definition (N Section 1.1): a gradient an example, and their inner products."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

__all__ = ["tangent_kernel"]


def tangent_kernel(model: nn.Module, x: Float[Tensor, "n *shape"]) -> Float[Tensor, "n n"]:
    """K(s, s') = ⟨∇_Θ ŷ(x_s), ∇_Θ ŷ(x_s')⟩ of the first output, over all parameters."""
    parameters = list(model.parameters())
    rows = []
    for example in x:
        output = model(example[None])[0, 0]
        gradients = torch.autograd.grad(output, parameters, allow_unused=True, materialize_grads=True)
        rows.append(torch.cat([gradient.flatten() for gradient in gradients]))
    tangents = torch.stack(rows)
    return tangents @ tangents.T
