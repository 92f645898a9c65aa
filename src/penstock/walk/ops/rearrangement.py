"""Operations that only move, copy or drop entries: reshapes, slices, concatenation, padding, repetition.

What they do is found by doing it: the step runs on numbers instead of values. Every entry it reads, of a
signal or of something held, is given a number of its own; where a number comes out, that entry has gone. A
second run with all numbers shifted tells the constants that the operation itself puts in (the zeros of a
padding).
"""

from collections.abc import Iterator, Mapping

import torch
from jaxtyping import Float64
from torch import Tensor

from penstock.walk.edges import Edges
from penstock.walk.operation import Operation
from penstock.walk.site import Nodes, Site, Weight, numbers
from penstock.walk.step import Ref

__all__ = ["Rearrangement"]

aten = torch.ops.aten


class Rearrangement(Operation):
    """Paths go where their entry goes; a held entry starts a path, padding by zeros does not."""

    reads = (
        aten.view.default,
        aten._unsafe_view.default,
        aten.reshape.default,
        aten.flatten.using_ints,
        aten.unflatten.int,
        aten.permute.default,
        aten.transpose.int,
        aten.t.default,
        aten.movedim.intlist,
        aten.movedim.int,
        aten.unsqueeze.default,
        aten.squeeze.default,
        aten.squeeze.dim,
        aten.squeeze.dims,
        aten.expand.default,
        aten.repeat.default,
        aten.tile.default,
        aten.repeat_interleave.self_int,
        aten.slice.Tensor,
        aten.select.int,
        aten.narrow.default,
        aten.split.Tensor,
        aten.split_with_sizes.default,
        aten.chunk.default,
        aten.unbind.int,
        aten.index.Tensor,
        aten.index_select.default,
        aten.gather.default,
        aten.diagonal.default,
        aten.unfold.default,
        aten.im2col.default,
        aten.cat.default,
        aten.stack.default,
        aten.select_scatter.default,
        aten.slice_scatter.default,
        aten.index_put.default,
        aten.copy.default,
        aten.fill.Scalar,
        aten.fill.Tensor,
        aten.masked_fill.Scalar,
        aten.masked_fill.Tensor,
        aten.where.self,
        aten.where.ScalarSelf,
        aten.where.ScalarOther,
        aten.where.Scalar,
        aten.tril.default,
        aten.triu.default,
        aten.new_zeros.default,
        aten.new_ones.default,
        aten.new_full.default,
        aten.zeros_like.default,
        aten.ones_like.default,
        aten.full_like.default,
        aten.flip.default,
        aten.roll.default,
        aten.rot90.default,
        aten.pad.default,
        aten.constant_pad_nd.default,
        aten.pixel_shuffle.default,
        aten.pixel_unshuffle.default,
        aten.channel_shuffle.default,
        aten.upsample_nearest1d.vec,
        aten.upsample_nearest2d.vec,
        aten.upsample_nearest3d.vec,
        aten._upsample_nearest_exact1d.vec,
        aten._upsample_nearest_exact2d.vec,
        aten._upsample_nearest_exact3d.vec,
    )
    title = "reshapes, slices, concatenation and padding"

    def edges(self, site: Site) -> Iterator[Edges]:
        first = numbering(site)
        total = sum(values.numel() for values in first.values())
        came = self.run(site, first)
        shifted = self.run(site, {name: values + total for name, values in first.items()})
        moved = shifted != came
        if not torch.equal(shifted - came, moved * float(total)):
            raise site.refusal(
                "does more than move entries, with these arguments; write it as a sum or a product"
            )
        target = torch.arange(came.numel())
        for name, values in first.items():
            low = values.flatten()[0]
            here = moved & (came >= low) & (came < low + values.numel())
            yield from self.arrivals(site, name, target[here], (came[here] - low).long())
        put_in = ~moved & (came != 0)
        if put_in.any():
            yield Edges(target[put_in], None, Weight.constants(came[put_in]))

    def run(self, site: Site, instead: Mapping[str, Tensor]) -> Float64[Tensor, " nodes"]:
        held = {name: site.held[name].cpu() for name in site.step.held}
        result = site.step.call({**held, **instead}, batch=1).flatten()
        if result.numel() != site.outputs.numel():
            raise site.refusal(
                "gives one example another shape than several; write it with the sizes spelt out"
            )
        return result

    def arrivals(self, site: Site, name: str, target: Tensor, number: Tensor) -> Iterator[Edges]:
        """The edges from these entries of one value to these nodes."""
        operand = site.operand(Ref(name))
        if isinstance(operand, Nodes):
            yield Edges(target, operand.laid(number))
            return
        if operand.fixed:
            counts = operand.values.flatten()[number] != 0
            target, number = target[counts], number[counts]
        yield Edges(target, None, operand.laid(number))


def numbering(site: Site) -> dict[str, Float64[Tensor, "*shape"]]:
    """A number of its own for every entry of the signals and floating-point tensors that the step reads."""
    shapes = {name: site.shapes[name] for name in site.step.signals}
    held = {name: site.held[name] for name in site.step.held}
    shapes |= {name: tuple(values.shape) for name, values in held.items() if values.is_floating_point()}
    first, numbered = 0, {}
    for name, shape in shapes.items():
        numbered[name] = numbers(shape).double() + first
        first += numbered[name].numel()
    return {name: values for name, values in numbered.items() if values.numel()}
