"""The value network's run: every gate is one that the feature network made."""

from abc import ABC, abstractmethod
from dataclasses import replace

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from penstock.errors import PenstockError
from penstock.gates.choice import Pooling
from penstock.gates.following import Following
from penstock.gates.given import Given, multiplied
from penstock.gates.kind import Kind
from penstock.gates.kinds import Rectifier

__all__ = ["ByName", "Multiplying", "Source"]


class Source(ABC):
    """Where the gates of a value network's calls come from."""

    @abstractmethod
    def gates_of(self, name: str, kind: Kind, q: Float[Tensor, "*shape"]) -> Given:
        """The gates of one call; a refusal where there are none."""


class ByName(Source):
    """Gates that a feature network made in the calls of the same names."""

    def __init__(self, gates: dict[str, Given]):
        self.gates = gates

    def gates_of(self, name: str, kind: Kind, q: Float[Tensor, "*shape"]) -> Given:
        if name not in self.gates:
            raise PenstockError(
                f"the value network calls {name}, which the feature network does not call for these inputs, "
                "so that it has no gates; give both one control flow"
            )
        return self.gates[name]


class Multiplying(Following):
    """Runs of a value network under gates from elsewhere."""

    def __init__(self, model: nn.Module, source: Source):
        super().__init__(model)
        self.source = source
        self.times: dict[str, int] = {}
        """By the names of calls whose signal is wider than its gates, how many times."""
        self._given: Given
        """The gates of the call that is asked about."""

    def on_call(self, name: str, kind: Kind, q: Float[Tensor, "*shape"]) -> Float[Tensor, "*out"] | None:
        given = self._given = self._fitting(name, kind, q)
        if self.asked.inplace and given.is_learnt:
            # the product remembers q for the gate's derivative, and is about to be written over it
            q = q.clone()
        return multiplied(q, replace(given, function=self.asked.function))

    def held_indices(self, name: str, kind: Pooling, q: Float[Tensor, "*shape"]) -> Int64[Tensor, "*out"]:
        return kind.places(q, self._given.pattern)

    def _fitting(self, name: str, kind: Kind, q: Tensor) -> Given:
        try:
            given, times = _padded(name, self.source.gates_of(name, kind, q), q)
        except PenstockError as error:
            self.refuse(str(error))
        if times > 1:
            self.times[name] = times
        return given


def _padded(name: str, given: Given, q: Tensor) -> tuple[Given, int]:
    """The gates as many times side by side as the value network is wider, and how many times that is:
    G(kw + i) = G(i) (N Definition C.1).
    """
    wanted, found = (q.shape[0], *given.kind.gate_shape(tuple(q.shape))), given.shape
    # an exported graph is for any number of examples: to compare numbers would make it one for this one
    one_each = torch.compiler.is_compiling() or found[0] in (1, q.shape[0])
    if wanted[1:] == found[1:] and one_each:
        if found[0] != wanted[0] and not torch.compiler.is_compiling():
            # one row for every example
            return Given(given.kind, given.pattern.expand(wanted)), 1
        return given, 1
    wider = [dim for dim in range(1, min(len(wanted), len(found))) if wanted[dim] != found[dim]]
    if len(wanted) != len(found) or len(wider) != 1 or wanted[wider[0]] % found[wider[0]] or not one_each:
        raise PenstockError(
            f"the gates of {name} have shape {'×'.join(map(str, found))} and the value network's signal "
            f"there asks for {'×'.join(map(str, wanted))}; give gates with a row for each example and one "
            "for each unit"
        )
    (dim,) = wider
    times = wanted[dim] // found[dim]
    kind = given.kind
    if isinstance(kind, Rectifier) and isinstance(kind.slope, Tensor) and kind.slope.numel() > 1:
        kind = Rectifier(kind.slope.repeat(times))
    return Given(kind, torch.cat([given.pattern] * times, dim=dim)), times
