"""`train`: the loop that trains an ensemble at once."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from torch import nn

from penstock.training.asking import Asked, Follow
from penstock.training.checking import check
from penstock.training.ensemble import Ensemble
from penstock.training.examples import Examples
from penstock.training.footprint import footprint, rows_within
from penstock.training.grouping import groups
from penstock.training.looking import Looking
from penstock.training.member import Member
from penstock.training.recipe import Recipe
from penstock.training.running import run
from penstock.training.size import size_in_bytes
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
    memory: str | int = "2GiB",
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
    * `memory`: what evaluation may use.

    A member whose loss is not finite stops there, and so does one that reaches `recipe.stop_at`; the others
    go on with unchanged numbers.

    >>> members = [Member(f"seed {seed}", network(seed), seed) for seed in range(5)]
    >>> trained = train(members, Examples(x, y), None, Recipe(epochs=3, optimizer=Adam(3e-4)))
    >>> trained[0].history["train_accuracy"]
    array([0.81, 0.93, 0.96])
    """
    asked = Asked(
        evaluate_at if isinstance(evaluate_at, int) else frozenset(evaluate_at),
        frozenset(snapshots),
        also or {},
        each_step,
        journal,
        progress,
    )
    check(members, train, test, recipe)
    done: dict[str, Trained] = {}
    for group in groups(members, recipe):
        places = [members.index(member) for member in group]
        done |= {
            each.name: each
            for each in _train_group(group, places, train, test, recipe, asked, size_in_bytes(memory))
        }
    return [done[member.name] for member in members]


def _train_group(
    group: Sequence[Member],
    places: Sequence[int],
    train: Examples,
    test: Examples | None,
    recipe: Recipe,
    asked: Asked,
    memory: int,
) -> list[Trained]:
    models = [member.model for member in group]
    way = choose(models, [member.seed for member in group], train.x, memory)
    way.prepare({"train": train.x} if test is None else {"train": train.x, "test": test.x})
    ensemble = Ensemble(group, way, train, recipe)
    rows = rows_within(memory, footprint(models[0], train.x), len(group))
    with ExitStack() as modes:
        for model in models:
            modes.enter_context(mode(model, training=True))
        run(ensemble, places, asked, Looking(ensemble, asked, test, rows))
    return ensemble.trained
