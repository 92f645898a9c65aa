"""What is looked at once, before a gated network counts: whether a watch sees all of its gates.

The first pass in each mode is rehearsed. Below the watch, every operation is followed, as `capture` does: a
ReLU that no watched call explains is a refusal by name, and a ReLU of weights alone is found, which is no
gate. Later passes are watched only, at a fraction of the price, unless such a ReLU was found.
"""

import sys
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor  # pyright: ignore[reportMissingImports]

from penstock.decoupled.emitting import Emitting
from penstock.decoupled.multiplying import ByName, Multiplying, Source
from penstock.decoupled.outside import Emitted
from penstock.errors import PenstockError, nearest
from penstock.gates.following import Following
from penstock.gates.kind import Kind
from penstock.gates.unseen import Unseen, check_function
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
        emitting = None
        if network.outside:
            source: Source = Emitted(network.feature(x))
        else:
            emitting = _Emitting(network.feature, network.gate, network.feature_gate)
            with emitting.following():
                network.feature(x)
            source = ByName(emitting.gates)
        writes = x._version != version
        multiplying = _Multiplying(network.value, source)
        with multiplying.following():
            network.value(x.clone() if writes else x)
    _check_calls(network, emitting, multiplying)
    looked: list[_Looking] = [multiplying] if emitting is None else [emitting, multiplying]
    return Rehearsed(
        follow=any(each.held for each in looked),
        writes_into_input=writes,
        recomputes=any(each.recomputed for each in looked),
    )


class _Below(Unseen):
    # in training mode dropout is as it should be
    draws_at_random = True


class _Looking(Following):
    """What shows in the calls of one network, beside what the pass is for."""

    below = _Below

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.kinds: dict[str, Kind] = {}
        self.held = False
        self.recomputed = False

    def is_signal(self, q: Tensor) -> bool:
        depends = super().is_signal(q)
        self.held = self.held or not depends
        return depends

    def on_call(self, name: str, kind: Kind, q: Tensor) -> Tensor | None:
        check_function(self)
        self.kinds[name] = kind
        self.recomputed = self.recomputed or _inside_a_checkpoint(sys._getframe(1))
        return super().on_call(name, kind, q)


class _Emitting(_Looking, Emitting):
    pass


class _Multiplying(_Looking, Multiplying):
    pass


def _check_calls(network: "GatedNetwork", emitting: _Emitting | None, multiplying: _Multiplying) -> None:
    mine = multiplying.kinds
    if not mine:
        raise PenstockError(
            f"{describe('value', network.value)} has no gates: it calls neither torch.relu nor its kin; a "
            "gate written by hand, such as x * (x > 0), is not seen, so write it with torch.relu"
        )
    if emitting is None:
        return
    its = emitting.kinds
    for name, kind in its.items():
        if name not in mine:
            raise PenstockError(
                f"the feature network calls {name}, which the value network does not; {nearest(name, mine)}; "
                "give two networks of one architecture"
            )
        if type(kind) is not type(mine[name]):
            raise PenstockError(
                f"{name} is {kind} in the feature network and {mine[name]} in the value network; give two "
                "networks of one architecture"
            )


def _inside_a_checkpoint(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__") == "torch.utils.checkpoint":
            return True
        frame = frame.f_back
    return False
