"""Products written as an equation: `torch.einsum("ni,io->no", x, w)`."""

from collections.abc import Iterator

import torch
from jaxtyping import Int64
from torch import Tensor

from penstock.walk.edges import Edges, product
from penstock.walk.operation import Operation
from penstock.walk.site import Nodes, Site

__all__ = ["Einsum"]

aten = torch.ops.aten


class Einsum(Operation):
    """One edge for every choice of the equation's letters; of the one or two factors, one is a signal."""

    reads = (aten.einsum.default,)
    title = "matrix products with a parameter"

    def edges(self, site: Site) -> Iterator[Edges]:
        equation = str(site["equation"]).replace(" ", "")
        read, _, made = equation.partition("->")
        axes = [*read.split(","), made]
        if "->" not in equation or "." in equation or any(len(set(own)) < len(own) for own in axes):
            raise site.refusal(
                f"has the equation {equation!r}; write it with an arrow, without dots and with no "
                "letter twice in one factor"
            )
        letters = sorted(set(equation) - set(",->"))
        factors = [site.operand(ref) for ref in site["tensors"]]  # pyright: ignore[reportGeneralTypeIssues]
        laid = [
            factor.laid(_along(factor.number, own, letters))
            for factor, own in zip(factors, axes, strict=False)
        ]
        target = _along(site.outputs, made, letters)
        if len(laid) == 1 and isinstance(laid[0], Nodes):
            yield Edges(target, laid[0], stops=True)
        elif len(laid) == 2:
            yield product(site, target, *laid)
        else:
            raise site.refusal("multiplies more than two factors; write it as one product after another")


def _along(number: Int64[Tensor, "*shape"], own: str, letters: list[str]) -> Int64[Tensor, "*letters"]:
    """The numbers with one dimension for each of the letters, of size 1 where they do not have it."""
    ordered = number.permute([own.index(letter) for letter in letters if letter in own])
    sizes = iter(ordered.shape)
    return ordered.reshape([next(sizes) if letter in own else 1 for letter in letters])
