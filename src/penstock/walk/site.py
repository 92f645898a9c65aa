"""A step among the values around it: what an operation is shown when it is asked what it means.

Everything is numbered for one example. The nodes of a signal are the entries of its tensor at a batch of one,
in row order; the entries of a held tensor likewise. Numbers come in the tensor's own shape, so that an
operation can say which of them belong together by the same broadcasting that torch's own operation uses.
"""

import math
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Int64
from torch import Tensor

from penstock.errors import PenstockError
from penstock.walk.step import Ref, Step

__all__ = ["Nodes", "Site", "Weight", "numbers", "where"]


@dataclass(frozen=True, eq=False)
class Nodes:
    """Nodes of one signal."""

    signal: str
    number: Int64[Tensor, "*shape"]

    def laid(self, number: Int64[Tensor, "*other"]) -> "Nodes":
        return replace(self, number=number)


@dataclass(frozen=True, eq=False)
class Weight:
    """Entries of one tensor that multiplies signals, or is added to them.

    Two entries are the same weight where `name` and number are the same. A `fixed` tensor holds constants
    (1/k of an average), which have no name: there it is the value that counts.
    """

    name: str
    values: Tensor
    number: Int64[Tensor, "*shape"]
    fixed: bool = False

    def laid(self, number: Int64[Tensor, "*other"]) -> "Weight":
        return replace(self, number=number)

    def times(self, factor: float) -> "Weight":
        """The same entries, each times a constant."""
        if factor == 1:
            return self
        return replace(self, values=self.values * factor, name=self.name and f"{factor:g}·{self.name}")

    @classmethod
    def constants(cls, values: Tensor) -> "Weight":
        """Numbers that no parameter reaches."""
        return cls("", values, numbers(values.shape), fixed=True)

    @classmethod
    def constant(cls, value: float) -> "Weight":
        return cls.constants(torch.tensor(value, dtype=torch.float64))


@dataclass(frozen=True, eq=False)
class Site:
    """A step, the shapes of the signals that it reads (at a batch of one), and the held values."""

    step: Step
    shapes: Mapping[str, tuple[int, ...]]
    held: Mapping[str, Tensor]
    names: Mapping[str, str]
    """What a user calls a held value, where it has a name."""
    learnt: Set[str]
    """The held values that some parameter reaches; the others are constants."""

    def __getitem__(self, argument: str) -> object:
        """The argument, by its name in torch's schema: a `Ref` where a value of the graph stands."""
        return self.step.arguments[argument]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The output's, at a batch of one."""
        return self.step.shape_at(1)

    @cached_property
    def outputs(self) -> Int64[Tensor, "*shape"]:
        """The output's nodes."""
        return numbers(self.shape)

    def is_signal(self, argument: object) -> bool:
        return isinstance(argument, Ref) and argument.name in self.step.signals

    def nodes(self, argument: str | Ref) -> Nodes:
        """The nodes of the signal that stands in an argument."""
        operand = self.operand(argument)
        if isinstance(operand, Weight):
            raise self.refusal(f"has something held as its {argument}; put what depends on the input there")
        return operand

    def weight(self, argument: str | Ref) -> Weight:
        """The entries of the held tensor that stands in an argument."""
        operand = self.operand(argument)
        if isinstance(operand, Nodes):
            raise self.refusal(TWO_SIGNALS)
        return operand

    def operand(self, argument: str | Ref) -> Nodes | Weight:
        """The nodes of a signal, or the entries of what is held; a number is a constant."""
        given = self[argument] if isinstance(argument, str) else argument
        if not isinstance(given, Ref):
            return Weight.constant(float(given))  # pyright: ignore[reportArgumentType]
        if self.is_signal(given):
            return Nodes(given.name, numbers(self.shapes[given.name]))
        values = self.held[given.name]
        if given.name not in self.learnt:
            return Weight.constants(values)
        return Weight(self.names.get(given.name, given.name), values, numbers(values.shape))

    def tensor(self, argument: str) -> Tensor | None:
        """The held tensor that stands in an argument; None where it is left out."""
        return None if self[argument] is None else self.weight(argument).values

    def scalar(self, argument: str) -> float:
        """The number that stands in an argument."""
        return float(self.weight(argument).values)

    def sizes(self, argument: str) -> tuple[int, ...]:
        """The sizes that stand in an argument, one or several."""
        given = self[argument]
        return tuple(given) if isinstance(given, list | tuple) else (int(self.scalar(argument)),)

    def refusal(self, reason: str) -> PenstockError:
        """That this step cannot be read, and why."""
        return PenstockError(f"{where(self.step)} {reason}")


TWO_SIGNALS = (
    "multiplies two signals that both depend on the input, so its output is no sum over paths; accepted are "
    "products with a parameter, a buffer or a constant"
)


def where(step: Step) -> str:
    """The step's place, and its operation where the place does not tell."""
    place = str(step.place)
    return place if step.operation in place else f"{place} ({step.operation})".strip()


def numbers(shape: tuple[int, ...]) -> Int64[Tensor, "*shape"]:
    """0, 1, 2, … in this shape."""
    return torch.arange(math.prod(shape)).reshape(shape)
