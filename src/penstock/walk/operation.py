"""What an operation of torch means to Penstock's questions, and the words for those that mean nothing to one.

A class in `walk/ops/` stands for one operation (in all of torch's spellings) and has one method for each
question that it can answer. To teach the walk an operation is to add a file there. An operation without a
meaning for a question simply lacks the method: what is refused, and in which words, follows from that, here.

| method | question |
|---|---|
| `edges(site)` | which paths continue through it: `Edges` |
| `gates(site, q, n)` | the values of the gates that those edges name, for n examples |
| `count(site, counts, one)` | how many paths reach each of its outputs, where counting edges would be slow |
"""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

from torch._ops import OpOverload

from penstock.errors import PenstockError
from penstock.walk.site import where
from penstock.walk.step import Step

__all__ = ["Operation", "accepted", "has_meaning", "meaning", "operations"]

# how a refusal begins, for the question of each method
_REFUSALS = {"edges": "no path is known to lead through"}


class Operation:
    """One operation of torch and what it means. Made once, without state."""

    reads: ClassVar[tuple[OpOverload, ...]] = ()
    """The torch operations it stands for."""
    title: ClassVar[str] = ""
    """What a user calls it, in the plural: "convolutions"."""


@cache
def operations() -> Mapping[OpOverload, Operation]:
    """Every operation that the walk knows, by what it reads."""
    from penstock.walk import ops

    known: dict[OpOverload, Operation] = {}
    for found in pkgutil.iter_modules(ops.__path__):
        module = importlib.import_module(f"{ops.__name__}.{found.name}")
        for kind in vars(module).values():
            if (
                isinstance(kind, type)
                and issubclass(kind, Operation)
                and kind.__module__ == module.__name__
                and kind.reads
            ):
                operation = kind()
                known |= dict.fromkeys(kind.reads, operation)
    return known


def has_meaning(step: Step, question: str) -> bool:
    """Whether the step's operation answers a question."""
    return hasattr(operations().get(step.target), question)


def meaning(step: Step, question: str) -> Any:
    """The method of the step's operation that answers a question, or the refusal."""
    if not has_meaning(step, question):
        raise PenstockError(
            f"{_REFUSALS[question]} {where(step)}; accepted are {', '.join(accepted(question))}"
        )
    return getattr(operations()[step.target], question)


def accepted(question: str) -> list[str]:
    """What can be read for a question, in a user's words."""
    return sorted({known.title for known in operations().values() if hasattr(known, question)}, key=str.lower)
