"""What stacked chains of linear layers have in common."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from penstock.training.ways.chain import Link
from penstock.training.ways.way import Named

__all__ = ["linear", "linear_gradients", "rows_of", "through_relu"]


def rows_of(x: Tensor) -> Float[Tensor, "e b i"]:
    """Each example as a vector."""
    return x if x.ndim == 3 else x.flatten(2)


def linear(tensors: Named, part: str, link: Link, signal: Float[Tensor, "e b i"]) -> Float[Tensor, "e b o"]:
    """One layer of the `feature` or `value` networks, for all members."""
    weight = tensors[f"{part}.{link.weight}"].mT
    if link.bias is None:
        return torch.bmm(signal, weight)
    return torch.baddbmm(tensors[f"{part}.{link.bias}"].unsqueeze(1), signal, weight)


def linear_gradients(
    into: Named, part: str, link: Link, back: Float[Tensor, "e b o"], signal: Float[Tensor, "e b i"]
) -> None:
    """Writes the gradient of one layer's weights and biases, where they are trained."""
    if f"{part}.{link.weight}" in into:
        torch.bmm(back.mT, signal, out=into[f"{part}.{link.weight}"])
    if link.bias is not None and f"{part}.{link.bias}" in into:
        torch.sum(back, 1, out=into[f"{part}.{link.bias}"])


def through_relu(
    tensors: Named, links: Sequence[Link], x: Float[Tensor, "e b i"]
) -> list[Float[Tensor, "e b o"]]:
    """The pre-activations of every gated layer of ordinary feature networks."""
    found, signal = [], x
    last = max((place for place, link in enumerate(links) if link.shut is not None), default=-1)
    for link in links[: last + 1]:
        signal = linear(tensors, "feature", link, signal)
        if link.shut is not None:
            found.append(signal)
            signal = torch.nn.functional.leaky_relu(signal, link.shut) if link.shut else signal.relu()
    return found
