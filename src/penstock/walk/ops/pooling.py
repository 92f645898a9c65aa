"""What operations on each channel alone have in common: which positions reach which, the same in all
channels.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from penstock.walk.edges import Edges
from penstock.walk.site import Site, Weight

__all__ = ["Passes", "by_channel", "channel_edges", "dimensions", "passes"]

# Entries of the images, with a single one in each, that are pooled at a time.
_BLOCK = 1 << 24


class Passes(NamedTuple):
    """A row for every input position that reaches an output position; positions are numbered in row order."""

    output: Int64[Tensor, " pairs"]
    input: Int64[Tensor, " pairs"]
    value: Float[Tensor, " pairs"]


def passes(site: Site, argument: str) -> Passes:
    """Found by doing it: which outputs each position reaches, and what arrives when it alone is 1."""
    nodes, dims = site.nodes(argument), dimensions(site)
    size = nodes.number.shape[-dims:]
    positions = size.numel()
    found = []
    for block in torch.arange(positions).split(max(1, _BLOCK // positions)):
        images = torch.zeros(len(block), 1, positions, dtype=torch.float64)
        images[torch.arange(len(block)), 0, block] = 1
        instead = {**site.held, nodes.signal: images.unflatten(2, size)}
        arrived = site.step.call(instead, batch=len(block)).flatten(1)
        image, output = arrived.nonzero(as_tuple=True)
        found.append((output, block[image], arrived[image, output]))
    return Passes(*(torch.cat(parts) for parts in zip(*found, strict=True)))


def channel_edges(site: Site, argument: str, passed: Passes) -> Iterator[Edges]:
    """The edges of every channel, with constant weights."""
    nodes, dims = site.nodes(argument), dimensions(site)
    target = by_channel(site.outputs, dims)[:, passed.output]
    source = nodes.laid(by_channel(nodes.number, dims)[:, passed.input])
    yield Edges(target, source, Weight.constants(passed.value))


def dimensions(site: Site) -> int:
    """How many dimensions are pooled, which are the last: 2 for `avg_pool2d`."""
    found = re.search(r"(\d)d", site.step.operation)
    assert found, f"{site.step.operation} does not say how many dimensions it pools"
    return int(found[1])


def by_channel(number: Int64[Tensor, "*shape"], dims: int) -> Int64[Tensor, "channels positions"]:
    """Nodes with the pooled dimensions as one, and all before them as another."""
    return number.flatten(-dims).flatten(0, -2)
