"""One operation of torch at work: its arguments by name, with shadows in the place of signals."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float64
from torch import Tensor
from torch._ops import OpOverload

from penstock.paths.onepass.measures import Held, Measure
from penstock.paths.onepass.shadows import Unreadable
from penstock.walk.site import TWO_SIGNALS

__all__ = ["Applied", "NotAffine", "Signal", "Term", "base_name", "named"]


class NotAffine(Exception):
    """Why no path leads through an operation, as the end of a sentence."""


@dataclass(frozen=True, eq=False)
class Signal:
    """A tensor that depends on the input, by its shadow."""

    shadow: Float64[Tensor, "..."]


Term = Signal | Held


@dataclass(frozen=True)
class Applied:
    """An operation and what it is given: `Signal`, `Held`, `Unreadable`, or what is no tensor."""

    operation: OpOverload
    arguments: Mapping[str, Any]
    measure: Measure

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def get(self, name: str) -> Any:
        """The argument, or None where the operation has none of this name."""
        return self.arguments.get(name)

    def term(self, name: str) -> Term:
        """What stands in an argument; a number is held."""
        given = self.arguments[name]
        return given if isinstance(given, Signal | Held) else constant(given)

    def shadow(self, name: str) -> Float64[Tensor, "..."]:
        """The shadow of the signal that stands in an argument."""
        term = self.arguments[name]
        if not isinstance(term, Signal):
            raise NotAffine(f"has something held as its {name}; put what depends on the input there")
        return term.shadow

    def held(self, name: str) -> Held:
        """What is held in an argument."""
        term = self.term(name)
        if isinstance(term, Signal):
            raise NotAffine(TWO_SIGNALS)
        return term

    def factors(self, one: str, other: str) -> tuple[Float64[Tensor, "..."], Held, bool]:
        """The shadow and what is held, of two factors; and whether the signal comes first."""
        a, b = self.term(one), self.term(other)
        if isinstance(a, Signal) and isinstance(b, Held):
            return a.shadow, b, True
        if isinstance(a, Held) and isinstance(b, Signal):
            return b.shadow, a, False
        raise NotAffine(TWO_SIGNALS)

    def summand(self, term: Term, factor: float = 1.0) -> Float64[Tensor, "..."]:
        """What a term of a sum brings, times a constant."""
        if isinstance(term, Held):
            return self.measure.term(Held(term.values * factor, term.learnt) if factor != 1 else term)
        return term.shadow if factor == 1 else self.measure.scaled(term.shadow, constant(factor))

    def entry(self, given: Any) -> Float64[Tensor, "..."]:
        """What an entry of this brings to where it is moved."""
        if isinstance(given, Signal):
            return given.shadow
        return self.measure.entry(given if isinstance(given, Held) else constant(given))

    def parts(self) -> list[Any]:
        """All that is given, lists taken apart."""
        return [part for given in self.arguments.values() for part in _flat(given)]

    def unreadable(self) -> Unreadable | None:
        """The first of what is given that no path is known to lead to."""
        return next((part for part in self.parts() if isinstance(part, Unreadable)), None)


def constant(value: float | int | bool) -> Held:
    """A number as something held."""
    return Held(torch.tensor(float(value), dtype=torch.float64))


def named(operation: OpOverload, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by the names in torch's schema, defaults for those left out."""
    schema = operation._schema.arguments
    given = {each.name: each.default_value for each in schema if each.has_default_value()}
    given |= {each.name: value for each, value in zip(schema, args, strict=False)}
    return given | dict(kwargs)


def base_name(operation: OpOverload) -> str:
    """`add`, for `aten::add.Tensor` and `aten::add_.Tensor`."""
    space, name = operation._schema.name.split("::")
    if space != "aten":
        return f"{space}::{name}"
    return name if name.endswith("__") else name.removesuffix("_")


def _flat(given: Any) -> list[Any]:
    if isinstance(given, tuple | list):
        return [part for each in given for part in _flat(each)]
    return [given]
