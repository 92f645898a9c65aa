"""Many random networks, of few architectures: what an exact statement is tried on."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Generator, Tensor, nn

from penstock.lab.models.random_sizes import seeded
from penstock.lab.models.redrawing import redraw

__all__ = ["Made", "Network", "many_networks"]

DTYPES = (torch.float64, torch.float32)

Made = tuple[nn.Module, tuple[int, ...]]
"""A network in evaluation mode, and the shape of one example."""


@dataclass(frozen=True)
class Network:
    """One of many: the next has other weights in the same module, or is another module."""

    model: nn.Module
    shape: tuple[int, ...]
    generator: Generator
    """For whatever else is random about this case."""

    def inputs(self, examples: int) -> Tensor:
        """Standard normal inputs: none of their entries is zero."""
        dtype = next(self.model.parameters()).dtype
        return torch.randn(examples, *self.shape, generator=self.generator, dtype=dtype)


def many_networks(
    make: Callable[[Generator, torch.dtype], Made], seed: int, architectures: int, draws: int
) -> Iterator[Network]:
    """`draws` random networks of each architecture; `make` is asked for float64 and float32 by turns."""
    for architecture in range(architectures):
        generator = seeded(seed, architecture)
        model, shape = make(generator, DTYPES[architecture % len(DTYPES)])
        for _ in range(draws):
            yield Network(redraw(model, generator), shape, generator)
