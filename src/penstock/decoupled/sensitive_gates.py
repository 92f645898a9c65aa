"""`sensitivity`: how far one parameter can move each soft gate (D Section 3.1, sensitive gates).

For a gate G(q) and a parameter θ of the network that makes it, ∂G/∂θ = ∂G/∂q · ∂q/∂θ. What is asked for is
the largest over all parameters.
"""

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.data import DataLoader

from penstock.decoupled.network import GatedNetwork
from penstock.decoupled.sensing import Sensing, SensingPair
from penstock.decoupled.steepest import largest_gradients
from penstock.errors import PenstockError
from penstock.model import batches, check, describe, left_as_found

__all__ = ["sensitivity"]


def sensitivity(
    model: nn.Module, x: Tensor | np.ndarray | DataLoader
) -> dict[str, Float[Tensor, "n *gates"]]:
    """|∂G/∂q| · max_θ |∂q/∂θ| of every soft gate, for each example (D Section 3.1).

    The gates that are *sensitive* at a threshold τ_S are those above it. θ runs over all parameters that the
    pre-activation depends on, trained or not: the feature network's in a decoupled pair (in a tied one, by
    what flows through its uses there), and what comes before the gate in a network with SiLU or GELU. The
    names are those of a `GateRecord` of the model; layers with hard gates, whose slope is 0, are left out.

    >>> pair = decouple(model, Soft())
    >>> sensitive = {name: s > 0.5 for name, s in sensitivity(pair, x).items()}
    >>> all(name in capture(pair, x) for name in sensitive)
    True
    """
    check(model)
    found: list[dict[str, Tensor]] = []
    for batch in batches(model, x):
        with left_as_found(model), torch.enable_grad():
            for parameter in model.parameters():
                parameter.requires_grad_(parameter.is_floating_point())
            found.append(dict(_of_batch(model, batch)))
    if not found[0]:
        raise PenstockError(
            f"{describe('', model)} has no soft gates, and a hard gate's slope is 0; ask a pair made with "
            "decouple(model, Soft()), or a network with SiLU or GELU"
        )
    return {name: torch.cat([each[name] for each in found]) for name in found[0]}


def _of_batch(model: nn.Module, batch: Tensor) -> Iterator[tuple[str, Tensor]]:
    if not isinstance(model, GatedNetwork):
        sensing, prefix = Sensing(model), ""
    elif model.outside:
        raise PenstockError(
            f"the gates of {describe('', model)} come from outside, where no parameter of a feature network "
            "moves them; ask a pair whose features are a network"
        )
    else:
        sensing, prefix = SensingPair(model.feature, model.gate, model.feature_gate), "value."
    sensing.run(batch)
    for name, (kind, q) in sensing.soft.items():
        if q.shape[0] != len(batch):
            raise PenstockError(
                f"{name} does not have the examples in its first dimension, and a sensitivity belongs to one "
                "example; keep them there"
            )
        steepness, largest = kind.steepness(q.detach()).abs(), largest_gradients(sensing, q)
        # a unit may have several gates, in dimensions of their own
        yield prefix + name, steepness * largest.reshape(*q.shape, *(1 for _ in steepness.shape[q.ndim :]))
