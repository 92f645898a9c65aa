"""A model run with gates held: every ReLU-like call lets through what a given pattern says, whatever its own
gates."""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Float64, Int64, Shaped
from torch import Tensor, nn

from penstock.errors import PenstockError
from penstock.gates.choice import Pooling
from penstock.gates.following import Following
from penstock.gates.kind import Kind
from penstock.model import describe, left_as_found

__all__ = ["Holding"]


class Holding(Following):
    """Runs of a model with its gates held at `patterns`, in the layout that each call has them in."""

    def __init__(self, model: nn.Module, patterns: Mapping[str, Shaped[Tensor, "..."]]):
        super().__init__(model)
        self.patterns = patterns
        self.called: set[str] = set()
        self.runs = 0

    def on_call(self, name: str, kind: Kind, q: Float[Tensor, "*shape"]) -> Float[Tensor, "*out"]:
        self.called.add(name)
        if name not in self.patterns:
            self.refuse(str(self._other_way(name, "calls", "does not call")))
        return kind.apply(q, self.patterns[name])

    def held_indices(self, name: str, kind: Pooling, q: Float[Tensor, "*shape"]) -> Int64[Tensor, "*out"]:
        return kind.places(q, self.patterns[name])

    def run(self, batch: Float64[Tensor, "n *shape"]) -> Tensor:
        """The output, unchecked: with gates held it may be anything. Each run begins from the same state of
        the model, with other random numbers, so that what a model draws cannot pass for held."""
        batch = batch.clone()
        self.called.clear()
        self.runs += 1
        with left_as_found(self.model):
            _draw_anew(self.runs)
            with self.following():
                y = self._outcome(batch)
        for name in self.patterns:
            if name not in self.called:
                raise self._other_way(name, "does not call", "calls")
        return y

    def _outcome(self, batch: Tensor) -> Tensor:
        try:
            return self.model(batch)
        except PenstockError:
            raise
        except RuntimeError as error:
            raise PenstockError(
                f"{describe('', self.model)} cannot be run in float64 "
                f"({str(error).strip().splitlines()[0]}); keep every tensor that it uses as a parameter, a "
                "buffer or an attribute of a layer"
            ) from error

    @staticmethod
    def _other_way(name: str, elsewhere: str, at_x: str) -> PenstockError:
        return PenstockError(
            f"the model {elsewhere} {name} at x + u and {at_x} it at x: its control flow depends on the "
            "data, so it is not affine with its gates held; verify a module without that branch"
        )


def _draw_anew(seed: int) -> None:
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(seed)
