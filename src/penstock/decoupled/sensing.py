"""Runs that keep the pre-activations of soft gates, and every use of a linear layer's weights on the way."""

from typing import Any, NamedTuple

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from penstock.decoupled.emitting import Emitting
from penstock.gates.following import Following
from penstock.gates.kind import Kind
from penstock.gates.softening import softened

__all__ = ["LinearUse", "Sensing", "SensingPair"]


class LinearUse(NamedTuple):
    """One call of `linear`, on examples × features."""

    weight: Tensor
    bias: Tensor | None
    input: Float[Tensor, "n i"]
    output: Float[Tensor, "n o"]


class Sensing(Following):
    """Of any network."""

    def __init__(self, model: nn.Module):
        super().__init__(model)
        self.soft: dict[str, tuple[Kind, Tensor]] = {}
        self.uses: list[LinearUse] = []

    def on_call(self, name: str, kind: Kind, q: Float[Tensor, "*shape"]) -> Tensor | None:
        self.keep(name, kind, q)
        return super().on_call(name, kind, q) if isinstance(self, Emitting) else None

    def keep(self, name: str, kind: Kind, q: Tensor) -> None:
        if not kind.hard:
            # its copy: the layer may write over its input
            self.soft[name] = kind, q.clone()

    def _other(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        y = super()._other(function, args, kwargs)
        if function is not F.linear or y.ndim != 2:
            return y
        given = dict(zip(("input", "weight", "bias"), args, strict=False)) | kwargs
        read = given["input"].detach().clone()
        self.uses.append(LinearUse(given["weight"], given.get("bias"), read, y))
        # a copy goes on: what is written into it later is no longer this layer's output
        return y.clone()


class SensingPair(Sensing, Emitting):
    """Of a feature network, whose gates another gate may have taken the place of."""

    def __init__(self, model: nn.Module, *gates: Any):
        Emitting.__init__(self, model, *gates)
        self.soft, self.uses = {}, []

    def keep(self, name: str, kind: Kind, q: Tensor) -> None:
        super().keep(name, softened(kind, self.gate), q)
