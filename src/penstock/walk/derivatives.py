"""Whether autograd goes the same way back through a graph as through its module.

Values may agree where derivatives do not: torch.export forgets a `no_grad` inside an `autocast`, and hooks on
tensors that change gradients on their way.
"""

import torch
from torch import Tensor, nn

from penstock.model.found import left_as_found
from penstock.walk.agreement import close, tolerance
from penstock.walk.graph import Graph

__all__ = ["same_derivatives"]


def same_derivatives(graph: Graph, model: nn.Module, rows: Tensor) -> bool:
    """Compare, for one random cotangent of the outputs, the gradients of the rows and of every parameter."""
    with left_as_found(model), torch.enable_grad():
        x = rows.clone().requires_grad_()
        leaves = [x, *(parameter for parameter in model.parameters() if parameter.requires_grad)]
        try:
            # not the leaf itself, so that a first layer may work in place
            from_module = _pulled_back(model(x.clone()), leaves)
        except Exception:
            return True  # what cannot be derived has no derivatives to be wrong about
        from_graph = graph.run(x, keep=[graph.output])[graph.output]
        return close(from_module, _pulled_back(from_graph, leaves), tolerance(graph))


def _pulled_back(y: Tensor, leaves: list[Tensor]) -> Tensor:
    if not y.requires_grad:
        return y.new_zeros(sum(leaf.numel() for leaf in leaves))
    cotangent = torch.rand(y.shape, generator=torch.Generator().manual_seed(1)).to(y)
    gradients = torch.autograd.grad(y, leaves, cotangent, materialize_grads=True)
    return torch.cat([gradient.flatten() for gradient in gradients])
