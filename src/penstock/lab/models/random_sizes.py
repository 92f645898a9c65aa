"""Sizes of random small networks, drawn from a generator, so that a case is its seed."""

import torch
from torch import Generator

__all__ = ["random_integer", "random_widths", "seeded"]


def seeded(*numbers: int) -> Generator:
    """A generator of its own for every tuple of numbers, such as a claim's seed and the case's number."""
    seed = 0
    for number in numbers:
        seed = (seed * 1_000_003 + number + 1) % 2**63
    return Generator().manual_seed(seed)


def random_integer(generator: Generator, low: int, high: int) -> int:
    """A whole number from `low` to `high`, both included."""
    return int(torch.randint(low, high + 1, (), generator=generator))


def random_widths(
    generator: Generator,
    *,
    inputs: tuple[int, int] = (1, 4),
    hidden: tuple[int, int] = (1, 4),
    depth: tuple[int, int] = (2, 4),
) -> tuple[int, ...]:
    """Widths of a random network with one output, inputs first; each pair is a smallest and a largest value.

    The papers give all hidden layers one width w; nothing that is shown here needs it.
    """
    layers = random_integer(generator, *depth) - 1
    width = (random_integer(generator, *hidden) for _ in range(layers))
    return (random_integer(generator, *inputs), *width, 1)
