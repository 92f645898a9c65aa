"""Operations that give back what they are given: copies, changes of precision, Dropout in evaluation mode."""

from collections.abc import Iterator

import torch

from penstock.walk.edges import Edges
from penstock.walk.operation import Operation
from penstock.walk.site import Site

__all__ = ["Identity"]

aten = torch.ops.aten


class Identity(Operation):
    """Every path passes on."""

    reads = (
        aten.clone.default,
        aten.alias.default,
        aten._to_copy.default,
        aten.contiguous.default,
        aten.dropout.default,
        aten.feature_dropout.default,
        aten.alpha_dropout.default,
        aten.lift_fresh_copy.default,
    )
    title = "copies and Dropout in evaluation mode"

    def edges(self, site: Site) -> Iterator[Edges]:
        if not site.step.dtype.is_floating_point:
            raise site.refusal(
                f"turns the signal into {site.step.dtype}, which is not affine in the input; keep it "
                "floating-point"
            )
        nodes = site.nodes(next(iter(site.step.arguments)))
        yield Edges(site.outputs, nodes)
