"""The two parts of a decoupled network's gradient (D Section 3): by the values, and by the gates.

With φ the path activities times the input and v the path values, the output is ⟨φ, v⟩, and its derivative
Ψ = φᵀ ∂v/∂θ + (∂φ/∂θ)ᵀ v. The first term flows through the value network, the second through the feature
network.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.func import functional_call

from penstock.decoupled.network import GatedNetwork
from penstock.errors import PenstockError
from penstock.model import call, check, left_as_found

__all__ = ["TwinGradient", "twin_gradient"]


@dataclass(frozen=True)
class TwinGradient:
    """One row an example, one column a parameter; in a tied pair the columns of both are the same
    parameters."""

    values: Float[Tensor, "n parameters"]
    """Ψ^w: what flows through the value network."""
    gates: Float[Tensor, "n parameters"]
    """Ψ^a: what flows through the gates."""


def twin_gradient(pair: GatedNetwork, x: Float[Tensor, "n *shape"], *, output: int = 0) -> TwinGradient:
    """The gradient of one output for every example, split into what changes values and what changes gates.

    Columns are the parameters of either network in the order of `named_parameters`, trained or not. In a tied
    pair, N(Θ, β; Θ), their sum is the gradient of the single network, and K = K^w + K^a + Ψ^w Ψ^aᵀ +
    Ψ^a Ψ^wᵀ.

    >>> psi = twin_gradient(decouple(model, Soft()), x)
    >>> psi.values.shape == psi.gates.shape == (len(x), sum(p.numel() for p in model.parameters()))
    True
    """
    check(pair)
    if not isinstance(pair, GatedNetwork):
        raise PenstockError(f"twin_gradient takes a decoupled network, not {type(pair).__name__}")
    with left_as_found(pair), torch.enable_grad():
        call(pair, x)
        leaves = {
            f"{part}.{name}": parameter.detach().clone().requires_grad_()
            for part, child in (("feature", pair.feature), ("value", pair.value))
            for name, parameter in child.named_parameters()
        }
        # tied parameters are two leaves here, one for each network
        y = functional_call(pair, leaves, (x,), tie_weights=False)
        if y.ndim != 2 or not 0 <= output < y.shape[1]:
            raise PenstockError(f"there is no output {output}: the outputs have shape {tuple(y.shape[1:])}")
        rows = [_row(y[row, output], leaves) for row in range(len(x))]
    return TwinGradient(*(torch.stack([row[part] for row in rows]) for part in ("value", "feature")))


def _row(y: Tensor, leaves: dict[str, Tensor]) -> dict[str, Tensor]:
    found = torch.autograd.grad(y, list(leaves.values()), retain_graph=True, materialize_grads=True)
    named = dict(zip(leaves, found, strict=True))
    return {
        part: torch.cat([each.flatten() for name, each in named.items() if name.startswith(f"{part}.")])
        for part in ("value", "feature")
    }
