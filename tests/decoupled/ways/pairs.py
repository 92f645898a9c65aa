"""Decoupled networks of every way of training, from the networks that the tests of training have."""

from collections.abc import Callable
from functools import partial

import torch
from torch import nn

from penstock import GatedNetwork, Soft, decouple, regime
from penstock.training.member import Member
from training.networks import Skip, chain, convolutional, normalized

__all__ = ["PAIRS", "pairs"]

SOFT = Soft(beta=2.0, epsilon=0.1)


def pooled(outputs: int = 3) -> nn.Module:
    return nn.Sequential(
        nn.Unflatten(1, (1, 2, 3)),
        nn.Conv2d(1, 4, 2, padding=1),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(8, 7),
        nn.PReLU(7),
        nn.Linear(7, outputs),
    )


def leaky(outputs: int = 3) -> nn.Module:
    """A chain with two linear layers in a row, and more gates than one word holds."""
    return nn.Sequential(
        nn.Linear(6, 70),
        nn.LeakyReLU(0.2),
        nn.Linear(70, 9),
        nn.Linear(9, 8),
        nn.ReLU(),
        nn.Linear(8, outputs),
    )


def fixed(make: Callable[[], nn.Module], generator: torch.Generator) -> GatedNetwork:
    return regime(make(), "frnpf-ii", generator=generator)


def learnt(make: Callable[[], nn.Module], generator: torch.Generator, **options) -> GatedNetwork:
    pair = regime(make(), "dlnpf", gate=SOFT, generator=generator)
    return pair if not options else decouple(pair.value, SOFT, **options)


PAIRS: dict[str, tuple[Callable[[torch.Generator], GatedNetwork], str]] = {
    "fixed chain": (partial(fixed, chain), "FixedChain"),
    "fixed leaky chain": (partial(fixed, leaky), "FixedChain"),
    "fixed, with a skip": (partial(fixed, Skip), "Fixed"),
    "fixed, normalized": (partial(fixed, normalized), "Fixed"),
    "fixed, convolutions": (partial(fixed, convolutional), "Fixed"),
    "fixed, pooled, with PReLU": (partial(fixed, pooled), "Fixed"),
    "learnt chain": (partial(learnt, chain), "LearntChain"),
    "learnt leaky chain": (partial(learnt, leaky), "LearntChain"),
    "learnt chain, soft features": (partial(learnt, leaky, feature_gate=SOFT), "LearntChain"),
    "gates alone": (partial(learnt, chain, train="feature"), "LearntChain"),
    "tied chain": (partial(learnt, chain, feature_gate=SOFT, tied=True), "Mapped"),
    "learnt, with a skip": (partial(learnt, Skip), "Mapped"),
    "learnt, normalized": (partial(learnt, normalized), "Mapped"),
    "learnt, convolutions": (partial(learnt, convolutional), "Alone"),
}
"""How one is made, and the way in which an ensemble of it is trained on a CPU."""


def pairs(name: str, count: int = 3) -> list[Member]:
    """An ensemble, in float64."""
    make, _ = PAIRS[name]
    made = []
    for seed in range(count):
        torch.manual_seed(seed)
        pair = make(torch.Generator().manual_seed(seed)).double()
        made.append(Member(f"seed {seed}", pair, seed))
    return made
