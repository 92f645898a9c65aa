"""What a shadow's entries are: plain numbers, logarithms where those overflow, or whether there is any path.

All of them stand for numbers that are not negative, so nothing ever cancels.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float64
from torch import Tensor

__all__ = ["Logarithms", "Numbers", "Plain", "Presence"]

Linear = Callable[[Tensor], Tensor]
"""A linear map with coefficients that are not negative."""
Moving = Callable[[list[Tensor]], Tensor]
"""What only moves, copies and drops entries of tensors, and puts in zeros."""


class Numbers(ABC):
    """A way to write numbers from 0 on, and to reckon with them so written."""

    none: float
    """How 0 is written."""
    one: float
    """How 1 is written."""

    @abstractmethod
    def of(self, plain: Float64[Tensor, "*shape"]) -> Float64[Tensor, "*shape"]:
        """Plain numbers in this way of writing."""

    @abstractmethod
    def plus(self, a: Float64[Tensor, "*#shape"], b: Float64[Tensor, "*#shape"]) -> Float64[Tensor, "*shape"]:
        """a + b."""

    @abstractmethod
    def times(
        self, a: Float64[Tensor, "*#shape"], b: Float64[Tensor, "*#shape"]
    ) -> Float64[Tensor, "*shape"]:
        """a · b."""

    @abstractmethod
    def through(self, a: Float64[Tensor, "..."], map: Linear, log: float = 0.0) -> Float64[Tensor, "..."]:
        """exp(log) · map(a); the map itself is given plain numbers."""

    def moved(self, parts: Sequence[Float64[Tensor, "..."]], move: Moving) -> Float64[Tensor, "..."]:
        """The entries where `move` puts them."""
        return move(list(parts))


class Plain(Numbers):
    """Numbers as they are: counts are exact up to 2^53 and overflow past 10^308."""

    none, one = 0.0, 1.0

    def of(self, plain: Float64[Tensor, "*shape"]) -> Float64[Tensor, "*shape"]:
        return plain

    def plus(self, a: Float64[Tensor, "*#shape"], b: Float64[Tensor, "*#shape"]) -> Float64[Tensor, "*shape"]:
        return a + b

    def times(
        self, a: Float64[Tensor, "*#shape"], b: Float64[Tensor, "*#shape"]
    ) -> Float64[Tensor, "*shape"]:
        return a * b

    def through(self, a: Float64[Tensor, "..."], map: Linear, log: float = 0.0) -> Float64[Tensor, "..."]:
        assert not log, "plain numbers have no scale"
        return map(a)


class Presence(Plain):
    """0 or 1: whether there is any path."""

    def plus(self, a: Float64[Tensor, "*#shape"], b: Float64[Tensor, "*#shape"]) -> Float64[Tensor, "*shape"]:
        return torch.maximum(*torch.broadcast_tensors(a, b))

    def through(self, a: Float64[Tensor, "..."], map: Linear, log: float = 0.0) -> Float64[Tensor, "..."]:
        return (map(a) > 0).double()


class Logarithms(Numbers):
    """Natural logarithms, entry by entry, and -∞ for 0."""

    none, one = -torch.inf, 0.0
    # Entries that are further apart than e^300 go through a map one band after the other, each with a scale
    # of its own: what is small beside one entry may be all that reaches an output.
    band = 300.0

    def of(self, plain: Float64[Tensor, "*shape"]) -> Float64[Tensor, "*shape"]:
        return plain.log()

    def plus(self, a: Float64[Tensor, "*#shape"], b: Float64[Tensor, "*#shape"]) -> Float64[Tensor, "*shape"]:
        return torch.logaddexp(a, b)

    def times(
        self, a: Float64[Tensor, "*#shape"], b: Float64[Tensor, "*#shape"]
    ) -> Float64[Tensor, "*shape"]:
        return a + b

    def through(self, a: Float64[Tensor, "..."], map: Linear, log: float = 0.0) -> Float64[Tensor, "..."]:
        total, left = None, a
        while left.numel() and (top := float(left.max())) > -torch.inf:
            within = left > top - self.band
            part = map(torch.where(within, (left - top).exp(), 0.0)).log() + (top + log)
            total = part if total is None else torch.logaddexp(total, part)
            left = torch.where(within, -torch.inf, left)
        return map(torch.zeros_like(a)).log() if total is None else total

    def moved(self, parts: Sequence[Float64[Tensor, "..."]], move: Moving) -> Float64[Tensor, "..."]:
        # where a zero is put in, such as a padding, it must not be taken for the logarithm of 1
        there = move([(part > -torch.inf).double() for part in parts])
        logs = move([part.clamp_min(torch.finfo(part.dtype).min) for part in parts])
        return torch.where(there > 0, logs, -torch.inf)
