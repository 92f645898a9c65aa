"""How many gates have flipped when networks of several widths are trained, in two normalisations.

A network without biases is positively homogeneous, so √(2/fan-in) before every layer is one factor on the
inputs: f(x) = f_ω(c x) with ω standard normal, c the product of all these factors. Gates do not feel it, and
a step of ω is a step of the parameterisation in which the tangent kernel is studied (Jacot et al. 2018).
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from penstock.gates.recording import capture
from penstock.lab.claims.claim import Run
from penstock.lab.data.dataset import DataSet
from penstock.lab.models.fully_connected import relu_network
from penstock.lab.models.initialization import Gaussian
from penstock.lab.models.random_sizes import seeded
from penstock.training.examples import Examples
from penstock.training.loop import train
from penstock.training.member import Member
from penstock.training.recipe import SGD, Recipe

__all__ = ["Normalization", "Problem", "flips", "normalizations"]


@dataclass(frozen=True)
class Normalization:
    """Factors of the layers as one factor on the inputs, and the step of ω that they make."""

    name: str
    factor: float
    rate: float


def normalizations(
    inputs: int, width: int, hidden: int, rate: float, *, same_at: int
) -> tuple[Normalization, Normalization]:
    """That of infinite width, √(2/d_in) in the first layer and √(2/w) above; and that of N Theorem 5.1,
    √(2/w) in all layers, whose step is one of θ = √(2/w) ω.

    In the second inputs are √(same_at/d_in) times as large and the step is such that both kernels have one
    trace. So both are the same where w is `same_at`.
    """
    above, share = sqrt(2 / width) ** hidden, same_at / width
    return (
        Normalization("fan-in", sqrt(2 / inputs) * above, rate),
        Normalization("theorem 5.1", sqrt(share * 2 / inputs) * above, rate / share),
    )


@dataclass(frozen=True)
class Problem:
    """Inputs of mean square 1, one number for each class as targets, and how they are learnt."""

    x: Float[Tensor, "n d"]
    targets: Float[Tensor, "n classes"]
    hidden: int
    epochs: int
    batch: int
    seeds: tuple[int, ...]

    @classmethod
    def of(cls, data: DataSet, examples: int, **how: Any) -> "Problem":
        """The first examples of a data set."""
        x, y = data.flat().train.select(slice(0, examples))
        x = x / x.square().mean().sqrt()
        return cls(x, F.one_hot(y, len(data.classes)).to(x.dtype), **how)


def flips(problem: Problem, width: int, way: Normalization, run: Run, name: str) -> dict[str, Tensor | int]:
    """The share of gates, over examples and layers, that is another one after training than before, and the
    share of examples that are told right; one number a seed.
    """
    device = problem.x.device
    x = problem.x * way.factor
    widths = (x.shape[1], *[width] * problem.hidden, problem.targets.shape[1])
    members = [
        Member(
            f"seed {seed}",
            relu_network(widths, Gaussian(1.0), seeded(seed, width), dtype=x.dtype).to(device),
            seed,
        )
        for seed in problem.seeds
    ]
    before = [capture(member.model, x) for member in members]
    trained = train(
        members,
        Examples(x, problem.targets),
        None,
        Recipe(problem.epochs, SGD(way.rate), loss="mean squared", batch=problem.batch),
        evaluate_at=problem.epochs,
        journal=lambda **metrics: run.journal.write(width=width, normalization=way.name, **metrics),
        progress=run.progress,
        checkpoint=run.folder(name),
    )
    right = problem.targets.argmax(dim=1)
    shares, accuracies = [], []
    for member, gates in zip(members, before, strict=True):
        flipped = gates.hamming(capture(member.model, x))
        shares.append(torch.stack([layer.double().mean() for layer in flipped.values()]).mean() / width)
        with torch.no_grad():
            accuracies.append((member.model(x).argmax(dim=1) == right).double().mean())
    return {
        "share": torch.stack(shares).cpu(),
        "accuracy": torch.stack(accuracies).cpu(),
        "diverged": sum(each.diverged is not None for each in trained),
    }
