"""Gates that do not come from the signal they multiply: those that one network makes and another one uses.

To multiply a signal by such gates is one call of `multiplied`, and a watch sees it as it sees a call of
torch.relu. So a decoupled network can be captured, its record proved complete, and its gates held or replaced
like anybody's.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from jaxtyping import Bool, Float, Int64, Shaped
from torch import Tensor
from torch.overrides import handle_torch_function, has_torch_function

from penstock.gates.gate import Soft
from penstock.gates.kind import Kind
from penstock.gates.kinds import Rectifier, Smooth
from penstock.gates.learning import Learnt, learns, learnt
from penstock.gates.masking import compiled_takes, masked
from penstock.gates.packed import unpack

__all__ = ["Bits", "Given", "given_from", "multiplied"]


@dataclass(frozen=True, eq=False)
class Bits:
    """The gates of a ReLU as they lie in a record, 64 a word."""

    words: Int64[Tensor, "n words"]
    shape: tuple[int, ...]
    """The gates of one example."""

    @cached_property
    def pattern(self) -> Bool[Tensor, "n *gates"]:
        return unpack(self.words, math.prod(self.shape)).reshape(len(self.words), *self.shape)


@dataclass(frozen=True)
class Given(Kind):
    """Gates of some kind, read from elsewhere. The kind does not look at the signal: its pattern is there."""

    kind: Kind
    """What the gates mean."""
    gates: Shaped[Tensor, "n *gates"] | Bits | Learnt | None = field(default=None, compare=False, repr=False)
    """What was read. A record keeps none here: it has the gates themselves."""
    function: str = field(default="multiplied", compare=False, repr=False)
    """What the call is named after: the function whose place it takes."""

    @property
    def hard(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.kind.hard

    @property
    def shut(self) -> float:
        return self.kind.shut

    @property
    def pattern(self) -> Shaped[Tensor, "n *gates"]:
        """What was read, as the kind reads it."""
        assert self.gates is not None
        return self.gates if isinstance(self.gates, Tensor) else self.gates.pattern

    @property
    def shape(self) -> tuple[int, ...]:
        """The pattern's shape, with the examples in front."""
        assert self.gates is not None
        if isinstance(self.gates, Bits):
            return (len(self.gates.words), *self.gates.shape)
        return tuple((self.gates.value if isinstance(self.gates, Learnt) else self.gates).shape)

    @property
    def is_learnt(self) -> bool:
        """Whether a derivative goes through the gates."""
        return isinstance(self.gates, Learnt) or (isinstance(self.gates, Tensor) and self.gates.requires_grad)

    def read(self, q: Float[Tensor, "n *shape"]) -> Shaped[Tensor, "n *gates"]:
        return self.pattern

    def apply(
        self, q: Float[Tensor, "n *shape"], pattern: Shaped[Tensor, "n *gates"]
    ) -> Float[Tensor, "n *out"]:
        return self.kind.apply(q, pattern)

    def value(self, pattern: Shaped[Tensor, "n *gates"]) -> Float[Tensor, "n *gates"]:
        return self.kind.value(pattern)

    def gate_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self.kind.gate_shape(shape)

    def detached(self) -> "Given":
        return Given(self.kind.detached())

    def planes(self, pattern: Shaped[Tensor, "n *gates"]) -> tuple[Bool[Tensor, "n *gates"], ...]:
        return self.kind.planes(pattern)

    def join(self, planes: tuple[Bool[Tensor, "n *gates"], ...]) -> Shaped[Tensor, "n *gates"]:
        return self.kind.join(planes)

    def pack(self, q: Float[Tensor, "n *shape"]) -> tuple[Int64[Tensor, "n words"], ...]:
        return (self.gates.words,) if isinstance(self.gates, Bits) else super().pack(q)

    def times(self, q: Float[Tensor, "n *shape"]) -> Float[Tensor, "n *out"]:
        """The signal times these gates."""
        if isinstance(self.gates, Bits) and compiled_takes(q):
            return masked(q, self.gates.words, self.shut)
        return self.gates.times(q) if isinstance(self.gates, Learnt) else self.apply(q, self.pattern)

    def __str__(self) -> str:
        return f"{self.kind}, given"


def given_from(kind: Kind, q: Float[Tensor, "n *shape"]) -> Given:
    """The gates of this kind that a signal opens, packed where that is the faster way to keep them."""
    if isinstance(kind, Smooth) and isinstance(kind.gate, Soft) and learns(q):
        return Given(kind, learnt(kind.gate, q))
    plain = isinstance(kind, Rectifier) and not isinstance(kind.slope, Tensor)
    if plain and compiled_takes(q):
        return Given(kind, Bits(kind.pack(q)[0], tuple(q.shape[1:])))
    return Given(kind, kind.read(q))


def multiplied(input: Float[Tensor, "n *shape"], given: Given) -> Any:
    """The signal times gates that are given."""
    if has_torch_function((input,)):
        return handle_torch_function(multiplied, (input,), input, given)
    return given.times(input)
