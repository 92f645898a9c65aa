"""The gates of a soft-gated chain and their derivatives by every parameter of the gating network, written
out: what D Section 3.1 calls active and sensitive is read off them."""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor, nn
from torch.func import jacrev, vmap

from penstock.decoupled.network import GatedNetwork

__all__ = ["GateDerivatives", "gate_derivatives", "on_every_path", "sensitive_paths", "terms_of_paths"]


class GateDerivatives(NamedTuple):
    """Of every gate, all layers in one row, for each example."""

    gates: Float[Tensor, "n gates"]
    """G, between 0 and 1 + ε."""
    by_parameter: Float[Tensor, "n gates parameters"]
    """∂G/∂θ, by every weight of the gating network."""
    steepest: Float[Tensor, " n"]
    """max |∂q/∂θ|, over all gates and all weights."""
    widths: tuple[int, ...]
    """How many of the gates are in each layer."""

    @property
    def sensitivity(self) -> Float[Tensor, "n gates"]:
        """max |∂G/∂θ| over the weights."""
        return self.by_parameter.abs().amax(-1)


def gate_derivatives(pair: GatedNetwork, x: Float[Tensor, "n inputs"]) -> GateDerivatives:
    """Of a pair made from a chain of linear layers without biases."""
    weights = [layer.weight.detach() for layer in pair.feature.modules() if isinstance(layer, nn.Linear)][:-1]
    ends = list(accumulate(weight.numel() for weight in weights))

    def pre_activations(parameters: Tensor, one: Tensor) -> Tensor:
        found = []
        for start, end, weight in zip([0, *ends], ends, weights, strict=False):
            found.append(parameters[start:end].view_as(weight) @ one)
            one = found[-1] * pair.feature_gate.value(found[-1])
        return torch.cat(found)

    parameters = torch.cat([weight.flatten() for weight in weights])
    q = vmap(pre_activations, (None, 0))(parameters, x)
    by_parameter = vmap(jacrev(pre_activations), (None, 0))(parameters, x)
    return GateDerivatives(
        pair.gate.value(q),
        pair.gate.slope(q)[..., None] * by_parameter,
        by_parameter.abs().amax((1, 2)),
        tuple(len(weight) for weight in weights),
    )


def on_every_path(gates: Sequence[Shaped[Tensor, " _"]]) -> Shaped[Tensor, "*paths"]:
    """The product of the gates along each path, one dimension a layer; of bits, where all are set."""
    product = torch.ones((), dtype=gates[0].dtype)
    for layer in gates:
        product = product[..., None] * layer
    return product


def terms_of_paths(
    gates: Sequence[Float[Tensor, " _"]], by_parameter: Sequence[Float[Tensor, "_ parameters"]]
) -> Float[Tensor, "layers *paths parameters"]:
    """The terms of D Equation (6), one for each layer l: ∂G(l, p(l))/∂θ · Π G(l', p(l')) over l' ≠ l."""
    terms = []
    for place, derivative in enumerate(by_parameter):
        others = [torch.ones_like(layer) if at == place else layer for at, layer in enumerate(gates)]
        above = len(gates) - 1 - place
        shape = (*(1 for _ in range(place)), len(derivative), *(1 for _ in range(above)), -1)
        terms.append(on_every_path(others)[..., None] * derivative.reshape(shape))
    return torch.stack(terms)


def sensitive_paths(
    active: Sequence[Bool[Tensor, " _"]], sensitive: Sequence[Bool[Tensor, " _"]], place: int
) -> Bool[Tensor, "*paths"]:
    """Those with a sensitive gate in this layer and active ones in all others."""
    return on_every_path([sensitive[at] if at == place else layer for at, layer in enumerate(active)])
