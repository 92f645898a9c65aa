"""A module as a list of steps, and what is held beside them: parameters, buffers, what these alone make."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from penstock.walk.step import Step

__all__ = ["Graph"]


@dataclass(frozen=True, eq=False)
class Graph:
    """The steps that the input passes, in order; each reads the input, earlier steps, or held values.

    A value that does not depend on the input is *held*: a parameter, a buffer, a constant, or what is
    computed from these alone (weight norm, a pruning mask). Held values are computed when asked for, from
    the model's own tensors as they are then.
    """

    steps: tuple[Step, ...]
    input: str
    output: str
    input_shape: tuple[int, ...]
    """One example's."""
    dtype: torch.dtype
    sources: Mapping[str, Tensor]
    """The model's own parameters, buffers and constants, by their names in the graph."""
    recipes: tuple[Step, ...]
    """How the other held values come from the sources, in order."""
    parameters: Mapping[str, str]
    """Held name to the parameter's name in the model: a tied weight is one entry, under its first name."""

    @cached_property
    def step(self) -> Mapping[str, Step]:
        """Every step by its name."""
        return {step.name: step for step in self.steps}

    def held(self, differentiable: bool = False, batch: int = 1) -> dict[str, Tensor]:
        """Every held value by name; with `differentiable`, autograd's way back to the parameters is kept.

        A value that is copied once an example (a class token, an initial state) is made for `batch` examples.
        """
        with torch.set_grad_enabled(differentiable):
            values = {n: tensor if differentiable else tensor.detach() for n, tensor in self.sources.items()}
            _walk(self.recipes, values, batch)
        return values

    def run(
        self, x: Tensor, *, keep: Collection[str] | None = None, held: Mapping[str, Tensor] | None = None
    ) -> dict[str, Tensor]:
        """Every step's output by name, and the input; under autograd where that is on.

        With `keep`, only those: what they do not need is not computed, and what has been read for the
        last time is freed. `held` puts other values in place of the model's own.
        """
        if held is None:
            held = self.held(differentiable=torch.is_grad_enabled(), batch=len(x))
        values = {**held, self.input: x}
        if keep is None:
            _walk(self.steps, values, len(x))
            return {name: values[name] for name in (self.input, *self.step)}
        needed = self._needed(keep)
        _walk(needed, values, len(x), _freed_after(needed, keep))
        return {name: values[name] for name in keep}

    def _needed(self, keep: Collection[str]) -> list[Step]:
        """The steps that the kept values come from, in order."""
        wanted, needed = set(keep), []
        for step in reversed(self.steps):
            if step.name in wanted:
                wanted.update(step.signals)
                needed.append(step)
        return needed[::-1]


def _freed_after(steps: Iterable[Step], keep: Collection[str]) -> dict[str, list[str]]:
    """Which values nobody reads any more after each step."""
    last = {name: step.name for step in steps for name in step.signals}
    freed: dict[str, list[str]] = {}
    for name, reader in last.items():
        if name not in keep:
            freed.setdefault(reader, []).append(name)
    return freed


def _walk(
    steps: Iterable[Step], values: dict[str, Tensor], batch: int, freed: Mapping[str, list[str]] | None = None
) -> None:
    """Add every step's output to the values; an operation with several results runs once for all of them."""
    origin, results = "", None
    for step in steps:
        if step.item is None:
            values[step.name] = step.call(values, batch)
            results = None
        else:
            if results is None or step.origin != origin:
                origin, results = step.origin, step.call_whole(values, batch)
            values[step.name] = results[step.item]
        for name in freed.get(step.name, ()) if freed else ():
            del values[name]
