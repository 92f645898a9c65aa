"""`gate_information`: how much of a trained network is in its gates (N, first version, Definition 5.1).

The network's gates are kept, its weights are forgotten and learnt again: a value network with fresh weights
is trained behind the frozen gates. What it then reaches on the test set is what the gates alone know.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from scipy import stats
from torch import Generator, Tensor, nn

from penstock.decoupled.regimes import Regime, regime
from penstock.decoupled.supervision import Labelled, labelled
from penstock.errors import PenstockError
from penstock.model import check, left_as_found
from penstock.model.copies import independent_copy
from penstock.model.sizes import size_in_bytes
from penstock.training.accuracy import has_accuracy, hits
from penstock.training.examples import Examples
from penstock.training.loop import train as train_members
from penstock.training.member import Member
from penstock.training.memory import footprint, rows_within
from penstock.training.recipe import Adam, Optimizer, Recipe

__all__ = ["GateInformation", "gate_information"]

_CONFIDENCE = 0.95


@dataclass(frozen=True)
class GateInformation:
    """Test accuracies. Of the retrained networks there is one for each seed, after the last epoch."""

    model: float
    """The network's own."""
    gates: Float[Tensor, " seeds"]
    """Fresh weights behind the network's gates."""
    random: Float[Tensor, " seeds"]
    """The same weights behind the gates of a network that was never trained."""
    training: Float[Tensor, " seeds"]
    """On the training set, behind the network's gates: whether they were trained for long enough."""

    @property
    def share(self) -> Float[Tensor, " seeds"]:
        """Of what the network gained over random gates, the share that its gates alone give back. It says
        something where the network gained more than seeds differ by.
        """
        return (self.gates - self.random) / (self.model - self.random)

    @property
    def has_gained(self) -> bool:
        """Whether the network is better than what random gates reach, by their interval."""
        return self.model > self.interval(self.random)[1]

    def interval(self, accuracies: Float[Tensor, " seeds"]) -> tuple[float, float]:
        """The mean's 95 % interval (Student's t over seeds); one seed says nothing of it."""
        mean, count = float(accuracies.mean()), len(accuracies)
        if count < 2:
            return mean, mean
        half = float(stats.t.ppf((1 + _CONFIDENCE) / 2, count - 1) * accuracies.std() / math.sqrt(count))
        return mean - half, mean + half

    def __str__(self) -> str:
        share = self._with_interval(self.share) if self.has_gained else "-, since random gates do as well"
        rows = {
            "the network itself": f"{self.model:.1%}",
            "its gates, weights learnt anew": self._with_interval(self.gates),
            "random gates, weights learnt": self._with_interval(self.random),
            "share in the gates": share,
        }
        return "\n".join(f"{told:31}{value}" for told, value in rows.items())

    def _with_interval(self, accuracies: Tensor) -> str:
        low, high = self.interval(accuracies)
        several = f"  ({low:.1%} to {high:.1%})" if len(accuracies) > 1 else ""
        return f"{float(accuracies.mean()):.1%}{several}"


def gate_information(
    model: nn.Module,
    train: Labelled,
    test: Labelled,
    *,
    epochs: int,
    seeds: int = 5,
    optimizer: Optimizer | None = None,
    batch: int | None = 32,
    memory: str | int = "2GiB",
    progress: Callable[..., Any] | None = None,
) -> GateInformation:
    """How much of a trained network is in its gates (N Definition 5.1, in its first version).

    For every seed, a network of the same architecture with fresh weights is trained on `train` behind the
    model's frozen gates (`regime(model, "flnpf")`), and as a baseline behind the gates of an untrained
    network (`"frnpf-ii"`). `train` and `test` are pairs (x, y), data sets or loaders of them; y are class
    labels, or ±1 in one column (then the loss is the mean squared error). `optimizer` is `Adam(1e-3)` of
    `penstock.training.recipe` unless told. The model is left as it was found.

    >>> signs = torch.where(y > 0, 1.0, -1.0)  # two classes, as ±1
    >>> found = gate_information(model, (x, signs), (x, signs), epochs=2, seeds=2)
    >>> found.gates.shape
    torch.Size([2])
    """
    with left_as_found(model):
        check(model.eval())
    if seeds < 1:
        raise PenstockError(f"seeds={seeds} retrains nothing; give 1 or more")
    learn, unseen = labelled(model, "train", train), labelled(model, "test", test)
    if not has_accuracy(unseen.y):
        raise PenstockError(
            "the targets of test do not say what is right; give class labels, or ±1 in one column"
        )
    loss = "mean squared" if learn.y.is_floating_point() else "cross entropy"
    recipe = Recipe(epochs, optimizer or Adam(1e-3), loss=loss, batch=batch)
    room = size_in_bytes(memory)

    def retrained(name: Regime) -> list[Any]:
        members = [Member(f"{name}, seed {seed}", _drawn(model, name, seed), seed) for seed in range(seeds)]
        return train_members(
            members, learn, unseen, recipe, evaluate_at={epochs}, memory=room, progress=progress
        )

    behind_own, behind_random = retrained("flnpf"), retrained("frnpf-ii")
    return GateInformation(
        model=_accuracy(model, unseen, room),
        gates=_last(behind_own, "test_accuracy"),
        random=_last(behind_random, "test_accuracy"),
        training=_last(behind_own, "train_accuracy"),
    )


def _drawn(model: nn.Module, name: Regime, seed: int) -> nn.Module:
    """The network of one seed. Also one whose weights were frozen learns them anew."""
    architecture = independent_copy(model)
    for parameter in architecture.parameters():
        parameter.requires_grad_(parameter.is_floating_point())
    trained, generator = model if name == "flnpf" else None, Generator().manual_seed(seed)
    return regime(architecture, name, trained=trained, generator=generator).train()


def _last(trained: list[Any], what: str) -> Float[Tensor, " seeds"]:
    return torch.tensor([each.history[what][-1] for each in trained], dtype=torch.float64)


def _accuracy(model: nn.Module, examples: Examples, memory: int) -> float:
    """The share of examples that the model gets right, in evaluation mode."""
    rows, right = rows_within(memory, footprint(model, examples.x), 1), 0
    with left_as_found(model), torch.no_grad():
        model.eval()
        for start in range(0, examples.count, rows):
            part = examples.select(slice(start, start + rows))
            right += int(hits(model(part.x)[None], part.y[None]).sum())
    return right / examples.count
