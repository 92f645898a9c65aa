"""Convolutions over one, two or three dimensions, and their transposes."""

from collections.abc import Iterator, Mapping, Sequence

import torch
from jaxtyping import Int64
from torch import Tensor

from penstock.walk.edges import Edges
from penstock.walk.operation import Operation
from penstock.walk.ops.windows import Taps, each, taps
from penstock.walk.site import Site

__all__ = ["Convolution", "TransposedConvolution"]

aten = torch.ops.aten


class Convolution(Operation):
    """Within a group, output o reads input i through `W[o, i, tap]` at every tap of its window.

    A tap on the zero padding is no edge. A bias starts a path at every position.
    """

    reads = (
        aten.conv1d.default,
        aten.conv2d.default,
        aten.conv3d.default,
        aten.conv1d.padding,
        aten.conv2d.padding,
        aten.conv3d.padding,
    )
    title = "convolutions"

    def edges(self, site: Site) -> Iterator[Edges]:
        x, weight = site.nodes("input"), site.weight("weight")
        groups, window = _groups(site), self.window(site)
        made = site.outputs.flatten(2).unflatten(1, (groups, -1))[0]
        read = x.number.flatten(2).unflatten(1, (groups, -1))[0]
        entry = weight.number.flatten(2).unflatten(0, (groups, -1))
        yield Edges(
            made[:, :, None, window.output],
            x.laid(read[:, None, :, window.input]),
            weight.laid(entry[:, :, :, window.tap]),
        )
        yield from _bias(site)

    def window(self, site: Site) -> Taps:
        kernel = site.weight("weight").number.shape[2:]
        dilation = each(site.sizes("dilation"), len(kernel))
        return taps(
            site.nodes("input").number.shape[2:],
            site.shape[2:],
            kernel,
            stride=each(site.sizes("stride"), len(kernel)),
            padding=_padding(site, kernel, dilation),
            dilation=dilation,
        )

    def count(
        self, site: Site, counts: Mapping[str, Tensor], one: Int64[Tensor, " digits"]
    ) -> Int64[Tensor, "digits nodes"]:
        """All channels of a group are reached by equally many paths, so they are counted once."""
        x, window = site.nodes("input"), self.window(site)
        reached = counts[x.signal][:, 0].flatten(2).unflatten(1, (_groups(site), -1)).sum(2)
        return _spread(site, reached, window.input, window.output, one)


class TransposedConvolution(Operation):
    """A convolution's edges the other way round: input i reaches output o through `W[i, o, tap]`."""

    reads = (aten.conv_transpose1d.default, aten.conv_transpose2d.input, aten.conv_transpose3d.input)
    title = "transposed convolutions"

    def edges(self, site: Site) -> Iterator[Edges]:
        x, weight = site.nodes("input"), site.weight("weight")
        groups, window = _groups(site), self.window(site)
        made = site.outputs.flatten(2).unflatten(1, (groups, -1))[0]
        read = x.number.flatten(2).unflatten(1, (groups, -1))[0]
        entry = weight.number.flatten(2).unflatten(0, (groups, -1))
        yield Edges(
            made[:, None, :, window.input],
            x.laid(read[:, :, None, window.output]),
            weight.laid(entry[:, :, :, window.tap]),
        )
        yield from _bias(site)

    def window(self, site: Site) -> Taps:
        """Of the convolution that goes from this one's outputs to its inputs."""
        kernel = site.weight("weight").number.shape[2:]
        return taps(
            site.shape[2:],
            site.nodes("input").number.shape[2:],
            kernel,
            stride=each(site.sizes("stride"), len(kernel)),
            padding=each(site.sizes("padding"), len(kernel)),
            dilation=each(site.sizes("dilation"), len(kernel)),
        )

    def count(
        self, site: Site, counts: Mapping[str, Tensor], one: Int64[Tensor, " digits"]
    ) -> Int64[Tensor, "digits nodes"]:
        x, window = site.nodes("input"), self.window(site)
        reached = counts[x.signal][:, 0].flatten(2).unflatten(1, (_groups(site), -1)).sum(2)
        return _spread(site, reached, window.output, window.input, one)


def _spread(
    site: Site, reached: Tensor, source: Tensor, target: Tensor, one: Int64[Tensor, " digits"]
) -> Tensor:
    """Counts by group and position, added up where they lead to and given to every output channel."""
    digits, groups, _ = reached.shape
    _, channels, *positions = site.shape
    total = reached.new_zeros(digits, groups, *positions).flatten(2)
    total.index_add_(2, target, reached[:, :, source])
    if site["bias"] is not None:
        total += one[:, None, None]
    return total[:, :, None].expand(-1, -1, channels // groups, -1).flatten(1)


def _bias(site: Site) -> Iterator[Edges]:
    if site["bias"] is not None:
        bias = site.weight("bias")
        yield Edges(site.outputs, None, bias.laid(bias.number.reshape(-1, *(1 for _ in site.shape[2:]))))


def _groups(site: Site) -> int:
    return int(site.scalar("groups"))


def _padding(site: Site, kernel: Sequence[int], dilation: Sequence[int]) -> Sequence[int]:
    """How much padding stands before the input; `"same"` puts the smaller half of it there."""
    if site["padding"] == "valid":
        return [0] * len(kernel)
    if site["padding"] == "same":
        return [apart * (width - 1) // 2 for width, apart in zip(kernel, dilation, strict=True)]
    return each(site.sizes("padding"), len(kernel))
