"""`train`: the loop that trains an ensemble at once."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from penstock.model.sizes import size_in_bytes
from penstock.training.asking import Asked, Follow
from penstock.training.checking import check
from penstock.training.checkpoints.fingerprint import identity
from penstock.training.checkpoints.keeping import Keeping
from penstock.training.checkpoints.when import Checkpoints
from penstock.training.ensemble import Ensemble
from penstock.training.examples import Examples
from penstock.training.grouping import groups
from penstock.training.looking import Looking
from penstock.training.member import Member
from penstock.training.memory import footprint, rows_within
from penstock.training.recipe import Recipe
from penstock.training.running import Running
from penstock.training.trained import Trained
from penstock.training.ways.choosing import choose
from penstock.training.ways.modes import mode

__all__ = ["train"]


def train(
    members: Sequence[Member],
    train: Examples,
    test: Examples | None,
    recipe: Recipe,
    *,
    evaluate_at: int | Collection[int] = 1,
    snapshots: Collection[int] = (),
    also: Mapping[str, Callable[[nn.Module], Any]] | None = None,
    each_step: Callable[[int, int], None] | None = None,
    journal: Callable[..., None] | None = None,
    progress: Follow | None = None,
    checkpoint: Path | Checkpoints | None = None,
    memory: str | int = "2GiB",
    device: torch.device | str | None = None,
) -> list[Trained]:
    """Train all members at once, each as an ordinary PyTorch loop with its optimizer and its order of the
    data would: same steps, same numbers to rounding.

    Members of one shape are stacked, and step together; of several shapes, one group is trained after
    another. A member's module is trained in place. It is trained in training mode, evaluated in evaluation
    mode, and left in the mode in which it was found.

    * `evaluate_at`: every so many epochs, or after which epochs; always after the last.
    * `snapshots`: the epochs after which weights are kept; 0 is the start.
    * `also`: measurements at each evaluation, functions of the module (in evaluation mode).
    * `each_step`: called with a member's number and the number of steps it has taken, after each; this is
      where a `Monitor` or `Switches` of its module is stepped.
    * `journal`: called with the metrics of each evaluation, `journal(member="seed 0", epoch=1, …)`.
    * `progress`: follows loops, as `penstock.lab.runs.progress.Progress().follow` does.
    * `checkpoint`: a folder, or a `Checkpoints` that says how often; called again with the same folder, a
      training that was stopped goes on where it was, with the numbers it would have had, to the bit on a CPU.
    * `memory`: what evaluation may use.
    * `device`: where members and examples are moved to first, and where the members stay; by default they are
      trained where they are.

    A member whose loss is not finite stops there, and so does one that reaches `recipe.stop_at`; the others
    go on with unchanged numbers.

    >>> from penstock.training.recipe import Adam
    >>> models = [nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1)) for seed in range(5)]
    >>> members = [Member(f"seed {seed}", model, seed) for seed, model in enumerate(models)]
    >>> recipe = Recipe(epochs=20, optimizer=Adam(0.01), loss="mean squared", batch=4)
    >>> trained = train(members, Examples(x, y), None, recipe)
    >>> trained[0].way
    'Chain: the model is a chain of linear layers and ReLUs'
    >>> trained[0].history["train_loss"].shape
    (20,)
    """
    asked = Asked(
        evaluate_at if isinstance(evaluate_at, int) else frozenset(evaluate_at),
        frozenset(snapshots),
        also or {},
        each_step,
        journal,
        progress,
    )
    if device is not None:
        for member in members:
            member.model.to(device)
        train, test = train.to(device), None if test is None else test.to(device)
    check(members, train, test, recipe)
    task = _Task(train, test, recipe, asked, _checkpoints(checkpoint), size_in_bytes(memory))
    done: dict[str, Trained] = {}
    for number, group in enumerate(groups(members, recipe)):
        places = [members.index(member) for member in group]
        done |= {each.name: each for each in _train_group(task, number, group, places)}
    return [done[member.name] for member in members]


class _Task(NamedTuple):
    """What all groups have in common."""

    train: Examples
    test: Examples | None
    recipe: Recipe
    asked: Asked
    checkpoints: Checkpoints | None
    memory: int


def _checkpoints(asked: Path | Checkpoints | None) -> Checkpoints | None:
    return Checkpoints(asked) if isinstance(asked, Path) else asked


def _train_group(task: _Task, number: int, group: Sequence[Member], places: Sequence[int]) -> list[Trained]:
    models, train, test = [member.model for member in group], task.train, task.test
    with ExitStack() as modes:
        for model in models:
            modes.enter_context(mode(model, training=True))
        way = choose(models, [member.seed for member in group], train.x, task.memory)
        way.prepare({"train": train.x} if test is None else {"train": train.x, "test": test.x})
        ensemble = Ensemble(group, way, train, task.recipe)
        rows = rows_within(task.memory, footprint(models[0], train.x), len(group))
        looking = Looking(ensemble, task.asked, test, rows)
        keeping = None
        if task.checkpoints is not None:
            keeping = Keeping(task.checkpoints, number, identity(ensemble, test, task.asked))
        Running(ensemble, places, task.asked, looking, keeping).run()
    return ensemble.trained
