"""One step of a module's graph: a torch operation, what it reads, and where the user wrote it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload

from penstock.walk.place import Place

__all__ = ["Extent", "Place", "Ref", "Step", "leaves", "map_leaves", "references"]


@dataclass(frozen=True)
class Ref:
    """A value that stands elsewhere in the graph; `number` where it is wanted as a Python number."""

    name: str
    number: bool = False


@dataclass(frozen=True)
class Extent:
    """A number that depends on how many examples there are: `batch`, `4*batch`, `batch//2`."""

    expression: Any
    """As torch writes it, in sympy's terms."""
    batch: Any
    """The symbol for the number of examples."""
    kind: type[int] | type[float] | type[bool] = int

    @property
    def is_batch(self) -> bool:
        return self.expression == self.batch

    @property
    def is_unknown(self) -> bool:
        """Whether it also depends on values, so that no batch size alone decides it."""
        return self.expression.free_symbols != {self.batch}

    def at(self, batch: int) -> int | float | bool:
        return batch if self.is_batch else _evaluated(self, batch)

    def __repr__(self) -> str:
        return str(self.expression).replace(str(self.batch), "batch")


@lru_cache(maxsize=4096)
def _evaluated(extent: Extent, batch: int) -> int | float | bool:
    return extent.kind(extent.expression.subs(extent.batch, batch))


@dataclass(frozen=True, eq=False)
class Step:
    """A torch operation applied to values of the graph.

    `args` and `kwargs` are the operation's own, with a `Ref` where a value of the graph stands and an
    `Extent` where a number depends on the batch. An operation that returns several tensors is one step
    for each that is used, with its position as `item`.
    """

    name: str
    target: OpOverload
    args: tuple[object, ...]
    kwargs: Mapping[str, object]
    place: Place
    sizes: tuple[int | Extent, ...]
    """The whole shape, batch included."""
    dtype: torch.dtype
    item: int | None = None
    held: tuple[str, ...] = ()
    """The values it reads that do not depend on the input."""
    signals: tuple[str, ...] = field(init=False)
    """The values it reads that depend on the input."""

    def __post_init__(self) -> None:
        held = set(self.held)
        signals = [ref.name for ref in references((self.args, self.kwargs)) if ref.name not in held]
        object.__setattr__(self, "signals", tuple(dict.fromkeys(signals)))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """One example's shape: that of a batch of one, without the first dimension if that is the batch."""
        return self.shape_at(1)[1:] if self.batch_first else self.shape_at(1)

    @property
    def operation(self) -> str:
        """The operation's bare name: `relu`, `conv2d`."""
        return self.target._schema.name.partition("::")[2]

    @property
    def origin(self) -> str:
        """The same for all steps that are results of one operation."""
        return self.name.partition(":")[0]

    @property
    def batch_first(self) -> bool:
        """Whether the first dimension is the batch, one row an example."""
        return bool(self.sizes) and isinstance(self.sizes[0], Extent) and self.sizes[0].is_batch

    def shape_at(self, batch: int) -> tuple[int, ...]:
        """The whole shape for a batch of this size."""
        return tuple(int(size.at(batch)) if isinstance(size, Extent) else size for size in self.sizes)

    @cached_property
    def arguments(self) -> dict[str, object]:
        """Every argument by its name in the operation's schema, those left out with their defaults."""
        schema = self.target._schema.arguments
        given = dict(zip((argument.name for argument in schema), self.args, strict=False)) | dict(self.kwargs)
        return {a.name: given.get(a.name, a.default_value if a.has_default_value() else None) for a in schema}

    def call(self, values: Mapping[str, Tensor], batch: int) -> Tensor:
        """Its own torch operation, on any tensors put in place of what it reads."""
        results = self.call_whole(values, batch)
        return results if self.item is None else results[self.item]

    def call_whole(self, values: Mapping[str, Tensor], batch: int) -> Any:
        """As `call`, with all results where the operation returns several."""

        def value(leaf: object) -> object:
            if isinstance(leaf, Ref):
                tensor = values[leaf.name]
                return tensor.item() if leaf.number else tensor
            return leaf.at(batch) if isinstance(leaf, Extent) else leaf

        args = [map_leaves(value, argument) for argument in self.args]
        kwargs = {key: map_leaves(value, argument) for key, argument in self.kwargs.items()}
        return self.target(*args, **kwargs)


def references(argument: object) -> list[Ref]:
    """Every `Ref` inside an argument, in order."""
    return [leaf for leaf in leaves(argument) if isinstance(leaf, Ref)]


def leaves(argument: object) -> Iterator[object]:
    """Everything inside an argument that is not itself a list, a tuple or a mapping, in order."""
    if isinstance(argument, Mapping):
        argument = list(argument.values())
    if isinstance(argument, list | tuple):
        for part in argument:
            yield from leaves(part)
    else:
        yield argument


def map_leaves(function: Callable[[Any], Any], argument: object) -> Any:
    """The argument with the function applied to every leaf of its lists and tuples."""
    if isinstance(argument, list | tuple):
        return [map_leaves(function, part) for part in argument]
    return function(argument)
