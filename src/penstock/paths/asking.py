"""A module's graph for a question about its paths, and whether it has the output that is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral

import torch
from torch import Tensor, nn

from penstock.errors import PenstockError
from penstock.model.checks import check
from penstock.model.parts import describe
from penstock.model.place import placement
from penstock.paths.hops import Hops
from penstock.paths.tally import Tally, tally_of
from penstock.paths.tracing import trace
from penstock.walk.graph import Graph
from penstock.walk.reading import read

__all__ = ["Asked", "ask", "ask_about", "check_output", "example"]

# As many rows as the reader needs to see that examples do not mix.
_ROWS = 3


@dataclass(frozen=True, eq=False)
class Asked:
    """A module's graph and the output that is asked for, which it has."""

    graph: Graph
    output: int
    like: Tensor
    """Something on the module's device and in its dtype."""

    @cached_property
    def tally(self) -> Tally:
        return tally_of(self.graph, self.output)

    def hops(self) -> Hops:
        """The hops of all its paths, with the weights as they are now."""
        return trace(self.graph, self.output, self.graph.held())


def ask(model: nn.Module, input_shape: Sequence[int] | None, output: int) -> Asked:
    """About inputs of this shape, one example's; by default what a linear first layer takes."""
    return ask_about(model, example(model, input_shape), output)


def ask_about(model: nn.Module, x: Tensor, output: int) -> Asked:
    """About these inputs."""
    graph = read(model, x)
    step = graph.step.get(graph.output)
    check_output(graph.input_shape if step is None else step.shape_at(1)[1:], output)
    return Asked(graph, output, x)


def check_output(shape: tuple[int, ...], output: int) -> None:
    """Refuses a module that gives an example something else than a row of outputs, or has no such output."""
    if len(shape) != 1:
        size = " × ".join(["examples", *map(str, shape)])
        reshaped = "model(x).flatten(1)" if shape else "model(x)[:, None]"
        raise PenstockError(
            f"the module's output is {size}, and paths lead to an output of examples × outputs; reshape it: "
            f"penstock.adapt(model, lambda model, x: {reshaped})"
        )
    if not isinstance(output, Integral) or not 0 <= output < shape[0]:
        raise PenstockError(
            f"there is no output {output!r}: the module's outputs are numbered 0 to {shape[0] - 1}, and "
            "output= is one of these numbers"
        )


def example(model: nn.Module, input_shape: Sequence[int] | None) -> Tensor:
    """Inputs of this shape, by default what a linear first layer takes; of the module's dtype on its device,
    drawn without touching the random state.
    """
    check(model)
    shape = _first_features(model) if input_shape is None else _checked(input_shape)
    generator = torch.Generator().manual_seed(0)
    where = placement(model)
    dtype = where.dtype or torch.get_default_dtype()
    return torch.randn(_ROWS, *shape, generator=generator).to(device=where.device, dtype=dtype)


def _checked(shape: Sequence[int]) -> tuple[int, ...]:
    sizes = shape if isinstance(shape, Sequence) else ()
    if not sizes or not all(isinstance(size, Integral) and size > 0 for size in sizes):
        raise PenstockError(
            "input_shape is the shape of one example without the batch, such as (784,) or (3, 32, 32), "
            f"not {shape!r}"
        )
    return tuple(map(int, sizes))


def _first_features(model: nn.Module) -> tuple[int, ...]:
    """What the first layer with weights takes, if it is a linear one."""
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            return (module.in_features,)
        if next(module.parameters(recurse=False), None) is not None:
            raise PenstockError(
                f"{describe(name, module)} comes first and does not say the shape of an example; give it, as "
                "in input_shape=(3, 32, 32)"
            )
    raise PenstockError(
        "the module has no layer that says the shape of an example; give it, as in input_shape=(784,)"
    )
