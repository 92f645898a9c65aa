"""The feature network's run: the gates of every call, read the moment they open."""

from jaxtyping import Float
from torch import Tensor, nn

from penstock.gates.following import Following
from penstock.gates.gate import Gate
from penstock.gates.given import Given
from penstock.gates.kind import Kind
from penstock.gates.softened import softened

__all__ = ["Emitting", "Gates"]

Gates = dict[str, Given]
"""The gates of one pass, by the name of the call that they belong to."""


class Emitting(Following):
    """Runs of a feature network. Its gates are read in `gate`'s way, and it uses `feature_gate` itself."""

    def __init__(self, model: nn.Module, gate: Gate, feature_gate: Gate):
        super().__init__(model)
        self.gate, self.feature_gate = gate, feature_gate
        self.gates: Gates = {}

    def on_call(self, name: str, kind: Kind, q: Float[Tensor, "*shape"]) -> Tensor | None:
        read, mine = softened(kind, self.gate), softened(kind, self.feature_gate)
        if self.asked.inplace and mine is not kind:
            # the product remembers q for its derivative, and is about to be written over it
            q = q.clone()
        pattern = read.read(q)
        self.gates[name] = Given(read, pattern)
        if mine is kind:
            return None
        return mine.apply(q, pattern if mine == read else mine.read(q))
