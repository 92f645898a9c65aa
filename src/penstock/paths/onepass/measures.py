"""What a weight, a start and a gate count for in one pass: in counting, in a norm, or in following where an
example leads."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from jaxtyping import Bool, Float, Float64, Shaped
from torch import Tensor

from penstock.gates.choice import Pooling
from penstock.gates.given import Given
from penstock.gates.kind import Kind
from penstock.gates.kinds import Clipped, Rectifier
from penstock.gates.softening import SoftClipped
from penstock.paths.onepass.numbers import Logarithms, Numbers, Presence
from penstock.paths.onepass.separable import summed, window_shares

__all__ = ["Counting", "Held", "Measure", "Norm", "Reach", "Weight"]


@dataclass(frozen=True, eq=False)
class Held:
    """A tensor that depends on nothing but the model."""

    values: Tensor
    learnt: bool = False
    """Whether a parameter reaches it: what is learnt has its paths also where it is 0, as in `npv`."""


class Weight(NamedTuple):
    """The coefficients of a product, exp(log) · values."""

    values: Float64[Tensor, "..."]
    log: float = 0.0


class Measure(ABC):
    """What one pass adds up over paths."""

    numbers: Numbers
    counts: ClassVar[bool] = False
    """Whether a weight counts by being there, so that all entries of one are alike."""
    reads_gates: ClassVar[bool] = False
    """Whether the gates are those of the inputs; otherwise all of them are open."""
    decides: ClassVar[bool] = True
    """Whether the module may decide by its inputs what to compute."""

    @abstractmethod
    def weight(self, held: Held, over: int | None = None) -> Weight:
        """What a held factor of a product is. Along the dimension `over`, of outputs, a measure that counts
        gives one entry for all."""

    @abstractmethod
    def scaled(self, shadow: Float64[Tensor, "*#shape"], held: Held) -> Float64[Tensor, "*shape"]:
        """A shadow multiplied entry by entry by something held."""

    @abstractmethod
    def term(self, held: Held) -> Float64[Tensor, "..."]:
        """What starts where something held is added."""

    @abstractmethod
    def entry(self, held: Held) -> Float64[Tensor, "..."]:
        """What starts where entries of something held are moved to."""

    def gated(
        self,
        kind: Kind,
        q: Float[Tensor, "*shape"],
        pattern: Shaped[Tensor, "..."],
        shadow: Float64[Tensor, "*shape"],
    ) -> Float64[Tensor, "*out"]:
        """The shadow behind gates. Here, all of them open: a window of max-pooling lets every entry through,
        and ReLU6 starts a path of value 1 at every unit, from what it can be held at."""
        if isinstance(kind, Pooling):
            return summed(self.numbers, shadow, window_shares(kind, tuple(q.shape)))
        if isinstance(kind, Clipped | SoftClipped):
            return self.numbers.plus(shadow, self.term(Held(torch.ones_like(q))))
        return shadow


class Counting(Measure):
    """Each open path counts 1."""

    counts, reads_gates = True, True

    def __init__(self, numbers: Numbers):
        self.numbers = numbers

    def weight(self, held: Held, over: int | None = None) -> Weight:
        shape = list(held.values.shape)
        if over is not None:
            shape[over] = 1
        return Weight(torch.ones(shape, dtype=torch.float64, device=held.values.device))

    def scaled(self, shadow: Float64[Tensor, "*#shape"], held: Held) -> Float64[Tensor, "*shape"]:
        return shadow.expand(torch.broadcast_shapes(shadow.shape, held.values.shape))

    def term(self, held: Held) -> Float64[Tensor, "..."]:
        there = held.learnt or bool(held.values.any())
        one = torch.full((), self.numbers.one if there else self.numbers.none, dtype=torch.float64)
        return one.to(held.values.device).expand(held.values.shape)

    def entry(self, held: Held) -> Float64[Tensor, "..."]:
        return self.term(held) if held.learnt else self.numbers.of((held.values != 0).double())

    def gated(
        self,
        kind: Kind,
        q: Float[Tensor, "*shape"],
        pattern: Shaped[Tensor, "..."],
        shadow: Float64[Tensor, "*shape"],
    ) -> Float64[Tensor, "*out"]:
        kind = kind.kind if isinstance(kind, Given) else kind
        if isinstance(kind, Pooling):
            return kind.apply(shadow, pattern)
        if isinstance(kind, Rectifier) and not isinstance(kind.slope, Tensor) and not kind.slope:
            return self._where(pattern, shadow)
        held = kind.apply(torch.zeros_like(q), pattern)
        opened = self._where(kind.apply(torch.ones_like(q), pattern) != held, shadow)
        if isinstance(kind, Clipped | SoftClipped):
            return self.numbers.plus(opened, self.entry(Held(held)))
        return opened

    def _where(
        self, opened: Bool[Tensor, "*#shape"], shadow: Float64[Tensor, "*shape"]
    ) -> Float64[Tensor, "*shape"]:
        return torch.where(opened, shadow, self.numbers.none)


class Norm(Measure):
    """Each path, of every gate open, counts |value|^p. In logarithms, since the sum can leave every range
    where its root is an ordinary number."""

    decides = False

    def __init__(self, p: float):
        self.p, self.numbers = p, Logarithms()

    def weight(self, held: Held, over: int | None = None) -> Weight:
        size = held.values.detach().double().abs()
        largest = float(size.max()) if size.numel() else 0.0
        if not largest:
            return Weight(size)
        # by the largest, for |w|^p itself may leave the range
        return Weight((size / largest) ** self.p, self.p * math.log(largest))

    def scaled(self, shadow: Float64[Tensor, "*#shape"], held: Held) -> Float64[Tensor, "*shape"]:
        return self.numbers.times(shadow, self.term(held))

    def term(self, held: Held) -> Float64[Tensor, "..."]:
        return self.p * held.values.detach().double().abs().log()

    def entry(self, held: Held) -> Float64[Tensor, "..."]:
        return self.term(held)


class Reach(Counting):
    """Whether any path leads there from where the pass begins; no bias starts one, and every gate is open."""

    reads_gates = False
    gated = Measure.gated

    def __init__(self):
        super().__init__(Presence())

    def term(self, held: Held) -> Float64[Tensor, "..."]:
        return torch.zeros((), dtype=torch.float64, device=held.values.device).expand(held.values.shape)

    def entry(self, held: Held) -> Float64[Tensor, "..."]:
        return self.term(held)
