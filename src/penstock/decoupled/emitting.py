"""The feature network's run: the gates of every call, read the moment they open."""

from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.overrides import has_torch_function

from penstock.gates.choice import Pooling
from penstock.gates.following import Following
from penstock.gates.gate import Gate, Soft
from penstock.gates.given import Given, given_from
from penstock.gates.kind import Kind
from penstock.gates.kinds import Rectifier
from penstock.gates.learning import learns, learnt_beside_relu
from penstock.gates.softening import softened

__all__ = ["Emitting", "Gates"]

Gates = dict[str, Given]
"""The gates of one pass, by the name of the call that they belong to."""


class Emitting(Following):
    """Runs of a feature network. Its gates are read in `gate`'s way, and it uses `feature_gate` itself."""

    def __init__(self, model: nn.Module, gate: Gate, feature_gate: Gate):
        super().__init__(model)
        self.gate, self.feature_gate = gate, feature_gate
        self.gates: Gates = {}
        self._places: Int64[Tensor, "*out"]

    def on_call(self, name: str, kind: Kind, q: Float[Tensor, "*shape"]) -> Tensor | None:
        if isinstance(kind, Pooling) and (self.asked.indices or not has_torch_function((q,))):
            # the output and the choice in one call; another watch sees it too, and would see another call
            # than the model's where that one asks for no indices
            output, self._places = kind.pooled(q)
            self.gates[name] = Given(kind, kind.choosing(self._places, tuple(q.shape[-kind.dims :])))
            return output
        read, mine = softened(kind, self.gate), softened(kind, self.feature_gate)
        if self._is_learnt_beside_relu(kind, mine, q):
            assert isinstance(self.gate, Soft)
            gates, output = learnt_beside_relu(self.gate, q)
            self.gates[name] = Given(read, gates)
            return output
        if self.asked.inplace and mine is not kind:
            # the product remembers q for its derivative, and is about to be written over it
            q = q.clone()
        given = self.gates[name] = given_from(read, q)
        if mine is kind:
            return None
        return given.times(q) if mine == read else mine.apply(q, mine.read(q))

    def held_indices(self, name: str, kind: Pooling, q: Float[Tensor, "*shape"]) -> Int64[Tensor, "*out"]:
        return self._places

    def _is_learnt_beside_relu(self, kind: Kind, mine: Kind, q: Tensor) -> bool:
        plain = kind == Rectifier() and mine is kind and isinstance(self.gate, Soft)
        return plain and not self.asked.inplace and self.asked.out is None and learns(q)
