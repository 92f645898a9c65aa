"""FC on digits in the five regimes of N Table 2, all seeds of a regime at once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import nn

from penstock.decoupled.regimes import regime as in_regime
from penstock.gates.gate import Soft
from penstock.lab.claims.table_2 import REGIMES
from penstock.lab.data.dataset import DataSet
from penstock.lab.data.named import load_data
from penstock.lab.models.fully_connected import fc_network
from penstock.lab.models.initialization import GlorotUniform
from penstock.lab.models.random_sizes import seeded
from penstock.lab.report.tour.regimes.watching import Movement, Watch, gathered, sorted_by_class
from penstock.training.asking import Follow
from penstock.training.loop import train
from penstock.training.member import Member
from penstock.training.recipe import Adam, Recipe

__all__ = ["Course", "Regimes", "Size", "train_regimes"]

RATE, BATCH, SOFT = 3e-4, 32, Soft(beta=4.0, epsilon=0.1)
"""As in the paper's row FC with Adam."""
# Each draws from numbers of its own: gates that are learnt must not meet the weights they were learnt with.
MODEL, GATES, VALUES = range(3)


@dataclass(frozen=True)
class Size:
    """How much is trained, and how much of it is filmed."""

    width: int = 128
    epochs: int = 24
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    units: int = 32
    """Of each layer, in the film."""
    of_each_class: int = 8
    """Examples in the film."""


@dataclass(frozen=True)
class Course:
    """What became of one regime."""

    regime: str
    test: Float[np.ndarray, "seeds epochs"]
    """Test accuracy after each epoch, a share."""
    train: Float[np.ndarray, " seeds"]
    """Accuracy on the training examples over the last epoch."""
    movement: Movement


@dataclass(frozen=True)
class Regimes:
    size: Size
    examples: int
    """To train on."""
    tested: int
    """To test on; the gates are watched on these."""
    classes: tuple[str, ...]
    courses: dict[str, Course]
    """In the order of N Table 2."""

    @property
    def layers(self) -> int:
        """Of gates."""
        return len(next(iter(self.courses.values())).movement.open)


def train_regimes(size: Size, progress: Follow | None = None) -> Regimes:
    """ReLU is trained first, since FLNPF takes its gates."""
    data = load_data("digits").flat()
    order = ("relu", *(each for each in REGIMES if each != "relu"))
    steps = order if progress is None else progress(order, "regimes", len(order))
    relu: list[nn.Module] = []
    courses: dict[str, Course] = {}
    with _one_thread():
        for regime in steps:
            models = [_network(regime, place, size, data, relu) for place in range(len(size.seeds))]
            courses[regime] = _train(regime, models, size, data, progress)
            relu = relu or models
    return Regimes(
        size, data.train.count, data.test.count, data.classes, {each: courses[each] for each in REGIMES}
    )


@contextmanager
def _one_thread() -> Iterator[None]:
    """For products this small: a second thread gains little, and on a busy machine the two wait for each
    other most of the time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _train(
    regime: str, models: list[nn.Module], size: Size, data: DataSet, progress: Follow | None
) -> Course:
    sample = sorted_by_class(data.test.y, size.of_each_class)
    watches = {id(model): Watch(model, data.test.x, sample) for model in models}
    looks: dict[str, Callable[[nn.Module], Any]] = {"looks": lambda model: watches[id(model)].look()}
    members = [Member(f"seed {seed}", model, seed) for seed, model in zip(size.seeds, models, strict=True)]
    recipe = Recipe(size.epochs, Adam(RATE), batch=BATCH)
    trained = train(members, data.train, data.test, recipe, also=looks, progress=progress)
    return Course(
        regime,
        np.stack([each.history["test_accuracy"] for each in trained]),
        np.array([each.history["train_accuracy"][-1] for each in trained]),
        gathered(list(watches.values()), size.units),
    )


def _network(regime: str, place: int, size: Size, data: DataSet, relu: list[nn.Module]) -> nn.Module:
    seed = size.seeds[place]
    classes = len(data.classes)
    model = fc_network(seeded(seed, MODEL), inputs=data.shape[0], classes=classes, width=size.width)
    if regime == "relu":
        return model
    learnt = regime == "flnpf"
    return in_regime(
        model,
        regime,  # pyright: ignore[reportArgumentType]
        gate=SOFT if regime == "dlnpf" else None,
        trained=relu[place] if learnt else None,
        init=GlorotUniform(),
        generator=seeded(seed, VALUES if learnt else GATES),
    )
