"""`GatedNetwork`: a feature network that makes gates, and a value network whose signal they multiply."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Literal

from torch import Tensor, nn

from penstock.decoupled.emitting import Emitting
from penstock.decoupled.multiplying import ByName, Multiplying, Source
from penstock.decoupled.outside import Emitted, FixedGates
from penstock.decoupled.rehearsal import Rehearsals
from penstock.gates.gate import Gate
from penstock.training.ways.way import Way

__all__ = ["GatedNetwork", "Part"]

Part = Literal["both", "value", "feature"]
"""Which of the two networks are trained."""


class GatedNetwork(nn.Module):
    """A deep gated network (N Section 4 and Figure 2, D Table 2): q^v of the value network is multiplied by
    gates that the feature network opens at the same place, z^v = q^v ⊙ G(q^f).

    An ordinary module with the children `feature` and `value`, whose parameters go by the names they have in
    the model: `feature.0.weight`, `value.0.weight`. It is made by `decouple` and `regime`. A child that is
    not trained stays in evaluation mode, whatever `train()` says, and its parameters require no gradients.

    >>> pair = decouple(model, Soft(beta=4.0))
    >>> [name for name, _ in pair.named_children()]
    ['feature', 'value']
    """

    def __init__(
        self,
        feature: nn.Module,
        value: nn.Module,
        gate: Gate,
        feature_gate: Gate,
        trained: Part,
        *,
        outside: bool = False,
        pad: int = 1,
    ):
        super().__init__()
        self.feature, self.value = feature, value
        self.gate: Gate = gate
        """What multiplies the value signal."""
        self.feature_gate: Gate = feature_gate
        """What the feature network itself uses."""
        self.trained: Part = trained
        """Which of the two are trained."""
        self.outside = outside
        """Whether `feature` is no network of gates itself, but emits gates of any making."""
        self.pad = pad
        """How many times as wide as the model's the hidden layers of the value network are."""
        self._rehearsals = Rehearsals()
        self.training = value.training
        for child in self._at_rest:
            child.requires_grad_(False).eval()

    @property
    def gates_are_fixed(self) -> bool:
        """Whether training leaves the gates as they are: an example opens the same ones for ever."""
        return self.trained == "value"

    def forward(self, x: Tensor) -> Tensor:
        rehearsed = self._rehearsals.of(self, x)
        source = self._source(x.clone() if rehearsed.writes_into_input else x, rehearsed.follow)
        multiplying = Multiplying(self.value, source)
        with multiplying.following() if rehearsed.follow else multiplying:
            return self.value(x)

    def train(self, mode: bool = True) -> "GatedNetwork":
        super().train(mode)
        for child in self._at_rest:
            child.eval()
        return self

    def training_rows(self, rows: Tensor | slice) -> AbstractContextManager[None]:
        """Inside, the network is called on these of the examples that its gates from outside are for."""
        return self.feature.rows(rows) if isinstance(self.feature, FixedGates) else nullcontext()

    @staticmethod
    def training_way(models: "Sequence[GatedNetwork]", x: Tensor, memory: int) -> Way | None:
        """How `penstock.training` evaluates several networks of this shape at once."""
        from penstock.decoupled.ways.choosing import way_for

        return way_for(models, x, memory)

    def extra_repr(self) -> str:
        parts = [] if self.outside else [f"gate={self.gate}", f"feature_gate={self.feature_gate}"]
        return ", ".join([*parts, f"trained={self.trained}"])

    @property
    def _at_rest(self) -> list[nn.Module]:
        resting = {"both": [], "value": [self.feature], "feature": [self.value]}
        return resting[self.trained]

    def _source(self, x: Tensor, follow: bool) -> Source:
        if self.outside:
            return Emitted(self.feature(x))
        emitting = Emitting(self.feature, self.gate, self.feature_gate)
        with emitting.following() if follow else emitting:
            self.feature(x)
        return ByName(emitting.gates)
