"""A model run with gates held: every ReLU-like call lets through what a given pattern says, whatever its own gates."""

import math
from collections.abc import Mapping

import torch
from jaxtyping import Float, Float64, Int64, Shaped
from torch import Tensor, nn

from penstock.errors import PenstockError
from penstock.gates.choice import Pooling
from penstock.gates.following import Following
from penstock.gates.kind import Kind

__all__ = ["Holding"]


class Holding(Following):
    """Runs of a model with its gates held at `patterns`, in the layout that each call has them in."""

    def __init__(self, model: nn.Module, patterns: Mapping[str, Shaped[Tensor, "..."]]):
        super().__init__(model)
        self.patterns = patterns
        self.called: set[str] = set()

    def on_call(self, name: str, kind: Kind, q: Float[Tensor, "*shape"]) -> Float[Tensor, "*out"]:
        self.called.add(name)
        if name not in self.patterns:
            raise self._other_way(name, "calls", "does not call")
        return kind.apply(q, self.patterns[name])

    def held_indices(self, name: str, kind: Pooling, q: Float[Tensor, "*shape"]) -> Int64[Tensor, "*out"]:
        size = q.shape[-kind.dims :]
        places = torch.arange(math.prod(size), dtype=torch.float64, device=q.device).reshape(size)
        return kind.apply(places.expand(q.shape), self.patterns[name]).long()

    def run(self, batch: Float64[Tensor, "n *shape"]) -> Tensor:
        """The output, unchecked: with gates held it may be anything."""
        self.called.clear()
        with self.following():
            y = self.model(batch.clone())
        for name in self.patterns:
            if name not in self.called:
                raise self._other_way(name, "does not call", "calls")
        return y

    @staticmethod
    def _other_way(name: str, elsewhere: str, at_x: str) -> PenstockError:
        return PenstockError(
            f"the model {elsewhere} {name} at x + u and {at_x} it at x: its control flow depends on the data, so it is not "
            "affine with its gates held; verify a module without that branch"
        )
