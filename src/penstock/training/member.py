"""One network of an ensemble: its weights, its order of the data, its optimizer's numbers."""

from dataclasses import dataclass

from torch import nn

from penstock.training.recipe import Optimizer

__all__ = ["Member"]


@dataclass(frozen=True, eq=False)
class Member:
    """A network to be trained, with a name of its own.

    `seed` is that of its order of the data, `torch.randperm(n, generator=g)` once an epoch with `g =
    torch.Generator().manual_seed(seed)`, and of whatever its layers draw (dropout), as after
    `torch.manual_seed(seed)`. `optimizer` replaces the recipe's for this member.

    >>> Member("seed 0", model, seed=0).name
    'seed 0'
    """

    name: str
    model: nn.Module
    seed: int
    optimizer: Optimizer | None = None
