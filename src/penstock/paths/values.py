"""`npv`: the neural path value, the product of the weights along each path."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from penstock.paths.asking import ask
from penstock.paths.limit import check_memory
from penstock.paths.products import along_paths

__all__ = ["npv"]


def npv(
    model: nn.Module, *, input_shape: Sequence[int] | None = None, output: int = 0
) -> Float[Tensor, " paths"]:
    """v_Θ(p): the product of the weights along each path to one output (N Definition 2.1).

    Weights are those of linear layers and convolutions, biases (a path that begins with one has an input of
    1), a BatchNorm's scale and shift, and constants such as the 1/k of an average. So `npf(model, x) @
    npv(model)` is the output (N Proposition 2.1).

    >>> npv(nn.Linear(2, 1, bias=False)).shape
    torch.Size([2])
    """
    asked = ask(model, input_shape, output)
    paths, like = asked.tally.paths, asked.like
    check_memory(paths, "one value for each", paths * like.itemsize, like.device)
    with torch.no_grad():
        hops, one = asked.hops(), like.new_ones(1)
        weights = torch.cat([one, hops.alphabet.values(one)])
        return along_paths(hops, one.expand(1, hops.roots), weights[None], hops.weight + 1)[0]
