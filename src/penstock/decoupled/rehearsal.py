"""What is looked at once, before a gated network counts: whether a watch sees all of its gates.

The first pass in each mode is rehearsed. Below the watch, every operation is followed, as `capture` does: a
ReLU that no watched call explains is a refusal by name, and a ReLU of weights alone is found, which is no
gate. Later passes are watched only, at a fraction of the price, unless such a ReLU was found.
"""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor  # pyright: ignore[reportMissingImports]

from penstock.decoupled.agreement import check_features, check_outputs, check_outside, check_values
from penstock.decoupled.looking import Looking, LookingAtFeatures, LookingAtValues
from penstock.decoupled.multiplying import ByName
from penstock.decoupled.outside import Emitted
from penstock.errors import PenstockError
from penstock.gates.watch import unwatched
from penstock.model import describe, left_as_found

if TYPE_CHECKING:
    from penstock.decoupled.network import GatedNetwork

__all__ = ["Rehearsals", "Rehearsed"]


@dataclass(frozen=True)
class Rehearsed:
    """What a rehearsal has shown."""

    follow: bool = False
    """Whether some ReLU-like call does not depend on the input, so that every pass has to be followed."""
    writes_into_input: bool = False
    """Whether the feature network writes into its input."""
    recomputes: bool = False
    """Whether a part of the network runs again in the backward pass."""


class Rehearsals:
    """The rehearsals of one network, one a mode. A copy of the network begins without any."""

    def __init__(self):
        self._done: dict[tuple[bool, bool], Rehearsed] = {}

    def __reduce__(self):
        return Rehearsals, ()

    def of(self, network: "GatedNetwork", x: Tensor) -> Rehearsed:
        mode = network.feature.training, network.value.training
        if mode not in self._done:
            if torch.compiler.is_exporting():
                # whoever reads the exported graph compares it with a run of the network itself
                return Rehearsed()
            # where the compiler is loaded, a compiled network rehearses as the Python that it was made from
            compiles = "torch._dynamo" in sys.modules
            rehearse: Any = torch.compiler.disable(_rehearse) if compiles else _rehearse
            self._done[mode] = rehearse(network, x)
        rehearsed = self._done[mode]
        if rehearsed.recomputes and torch.is_grad_enabled():
            raise PenstockError(
                f"{describe('', network)} runs a part of itself again in the backward pass "
                "(torch.utils.checkpoint), where its gates are not known any more; leave the checkpoint out"
            )
        return rehearsed


def _rehearse(network: "GatedNetwork", x: Tensor) -> Rehearsed:
    if any(map(is_functorch_wrapped_tensor, (x, *network.parameters(), *network.buffers()))):
        raise PenstockError(
            f"{describe('', network)} is called for the first time inside torch.func (vmap, grad or their "
            "kin), where its gates cannot be looked for; call it once on an example before"
        )
    with unwatched(), left_as_found(network), torch.no_grad():
        x = x.detach().clone()
        version = x._version
        features, output = None, None
        if network.outside:
            source: Emitted | ByName = Emitted(network.feature(x))
        else:
            features = LookingAtFeatures(network.feature, network.gate, network.feature_gate)
            with features.following():
                output = network.feature(x)
            source = ByName(features.gates)
        writes = x._version != version
        values = LookingAtValues(network.value, source)
        outcome = _run(network, values, x.clone() if writes else x)
        check_values(network, values)
        if isinstance(source, Emitted):
            check_outside(network, source, values, x)
    if features is not None:
        check_features(network, features, values)
        check_outputs(network, output, outcome)
    looked: list[Looking] = [values] if features is None else [features, values]
    return Rehearsed(
        follow=any(each.held for each in looked),
        writes_into_input=writes,
        recomputes=any(each.recomputed for each in looked),
    )


def _run(network: "GatedNetwork", values: LookingAtValues, x: Tensor) -> Any:
    try:
        with values.following():
            return network.value(x)
    except RuntimeError as error:
        if network.pad == 1:
            raise
        raise PenstockError(
            f"the value network, its hidden layers {network.pad} times as wide, cannot run "
            f"({str(error).splitlines()[0]}); pad= takes models in which the input is read by the layer that "
            "is registered first alone, and the output given by the last"
        ) from error
