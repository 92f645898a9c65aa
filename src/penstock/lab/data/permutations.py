"""Permutations of pixels and of labels: the input and output domains of R Section 5 (Table 1, Figure 7)."""

import itertools
import math

import torch
from jaxtyping import Int, Num
from torch import Generator, Tensor

from penstock.errors import PenstockError

__all__ = ["first_permutations", "permute_labels", "permute_pixels", "random_permutations"]


def random_permutations(count: int, size: int, generator: Generator) -> Int[Tensor, "count size"]:
    """`count` different orders of `size` things, each drawn at random.

    >>> random_permutations(2, 10, torch.Generator().manual_seed(0)).sort().values.unique(dim=0)
    tensor([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]])
    """
    _check(count, size)
    drawn: dict[tuple[int, ...], Tensor] = {}
    while len(drawn) < count:
        order = torch.randperm(size, generator=generator, device=generator.device)
        drawn[tuple(order.tolist())] = order
    return torch.stack(list(drawn.values()))


def first_permutations(count: int, size: int) -> Int[Tensor, "count size"]:
    """The first `count` orders of `size` things in lexicographic order, as R's own code takes its output
    maps: the first 40 of ten classes leave the classes 0 to 4 in place.

    >>> first_permutations(3, 4)
    tensor([[0, 1, 2, 3],
            [0, 1, 3, 2],
            [0, 2, 1, 3]])
    """
    _check(count, size)
    return torch.tensor(list(itertools.islice(itertools.permutations(range(size)), count)))


def permute_pixels(
    x: Num[Tensor, "n *shape"], permutation: Int[Tensor, " pixels"]
) -> Num[Tensor, "n *shape"]:
    """Every input with its numbers in another order, the same for all: R's permutation matrix, applied to the
    flattened input. Number `k` of the result is number `permutation[k]` of the input.

    >>> permute_pixels(torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([2, 0, 1]))
    tensor([[3., 1., 2.]])
    """
    size = x[0].numel() if len(x) else math.prod(x.shape[1:])
    if len(permutation) != size:
        raise PenstockError(
            f"an input has {size:,} numbers and the permutation {len(permutation):,}; draw one with "
            f"random_permutations(1, {size}, generator)"
        )
    return x.flatten(1)[:, permutation.to(x.device)].reshape(x.shape)


def permute_labels(y: Int[Tensor, " n"], permutation: Int[Tensor, " classes"]) -> Int[Tensor, " n"]:
    """Every label `c` replaced by `permutation[c]`: one of R's output maps.

    >>> permute_labels(torch.tensor([0, 0, 2]), torch.tensor([1, 2, 0]))
    tensor([1, 1, 0])
    """
    if len(y) and not 0 <= int(y.min()) <= int(y.max()) < len(permutation):
        raise PenstockError(
            f"the labels go from {int(y.min())} to {int(y.max())} and the permutation is of "
            f"{len(permutation)} classes; give one of all classes"
        )
    return permutation.to(y.device)[y]


def _check(count: int, size: int) -> None:
    if count < 1 or size < 1:
        raise PenstockError(f"{count} orders of {size} things are asked for; give 1 or more of both")
    if math.factorial(min(size, 20)) < count:
        raise PenstockError(
            f"{size} things have {math.factorial(size):,} different orders, and {count:,} are asked for"
        )
