"""What pooling does to each position alone, found by doing it: so padding, ceil_mode and divisors are torch's own."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from penstock.walk.site import Site

__all__ = ["Alone", "alone"]

# Entries of a block of images with a single one in them.
_BLOCK = 1 << 24


class Alone(NamedTuple):
    """A row for every input position that reaches an output position, positions numbered in row order; ordered by output."""

    output: Int64[Tensor, " pairs"]
    input: Int64[Tensor, " pairs"]
    value: Float[Tensor, " pairs"]


def alone(site: Site, argument: str) -> Alone:
    """The step's outputs when one position of one channel is 1 and all others are 0."""
    nodes = site.nodes(argument)
    size = nodes.number.shape[2:]
    positions = size.numel()
    found = []
    for block in torch.arange(positions).split(max(1, _BLOCK // positions)):
        images = torch.zeros(len(block), 1, positions, dtype=torch.float64)
        images[torch.arange(len(block)), 0, block] = 1
        reached = site.step.call({**site.held, nodes.signal: images.unflatten(2, size)}, batch=len(block)).flatten(1)
        image, output = reached.nonzero(as_tuple=True)
        found.append((output, block[image], reached[image, output]))
    output, source, value = (torch.cat(parts) for parts in zip(*found, strict=True))
    order = torch.argsort(output, stable=True)
    return Alone(output[order], source[order], value[order])
