"""Runs of the two networks that show what a pass needs to know about them, beside what the pass is for."""

import sys
from types import FrameType
from typing import Any

from torch import Tensor

from penstock.decoupled.emitting import Emitting
from penstock.decoupled.multiplying import Multiplying
from penstock.gates.following import Following
from penstock.gates.kind import Kind
from penstock.gates.unseen import Unseen, check_function

__all__ = ["Looking", "LookingAtFeatures", "LookingAtValues"]


class _Below(Unseen):
    # in training mode dropout is as it should be
    draws_at_random = True


class Looking(Following):
    """What shows in the calls of one network."""

    below = _Below

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.kinds: dict[str, Kind] = {}
        """By the name of each call, what the network itself calls there."""
        self.shapes: dict[str, tuple[int, ...]] = {}
        """By the name of each call, the shape of what it is made on."""
        self.held = False
        """Whether some ReLU-like call does not depend on the input."""
        self.recomputed = False
        """Whether some call is made inside a checkpoint."""

    def is_signal(self, q: Tensor) -> bool:
        depends = super().is_signal(q)
        self.held = self.held or not depends
        return depends

    def on_call(self, name: str, kind: Kind, q: Tensor) -> Tensor | None:
        check_function(self)
        self.kinds[name], self.shapes[name] = kind, tuple(q.shape)
        self.recomputed = self.recomputed or _inside_a_checkpoint(sys._getframe(1))
        return super().on_call(name, kind, q)


class LookingAtFeatures(Looking, Emitting):
    """A run of the feature network."""


class LookingAtValues(Looking, Multiplying):
    """A run of the value network."""


def _inside_a_checkpoint(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__") == "torch.utils.checkpoint":
            return True
        frame = frame.f_back
    return False
