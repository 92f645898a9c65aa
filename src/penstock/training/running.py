"""Running an ensemble to its end: epoch after epoch, step after step."""

import time
from collections.abc import Callable, Sequence

from penstock.training.asking import Asked
from penstock.training.binding import bound
from penstock.training.ensemble import Ensemble
from penstock.training.looking import Looking

__all__ = ["run"]


def run(ensemble: Ensemble, places: Sequence[int], asked: Asked, looking: Looking) -> None:
    """`places` are the members' numbers in the list that the user gave."""
    tensors = {**ensemble.flat.parameters, **ensemble.buffers}
    with bound(ensemble.models, tensors):
        looking.start()
        epochs = range(ensemble.epoch, ensemble.recipe.epochs)
        for _ in asked.follow(epochs, "epochs", len(epochs)):
            _epoch(ensemble, places, asked)
            looking.epoch()
            if not ensemble.going:
                break
        looking.finish()


def _epoch(ensemble: Ensemble, places: Sequence[int], asked: Asked) -> None:
    ensemble.begin_epoch()
    left = ensemble.steps_an_epoch - ensemble.step
    began, before = time.perf_counter(), ensemble.seconds
    for rows in asked.follow(ensemble.batches(), f"steps of epoch {ensemble.epoch + 1}", left):
        ensemble.take(rows)
        ensemble.seconds = before + time.perf_counter() - began
        if asked.each_step is not None:
            _tell_each(ensemble, places, asked.each_step)
    ensemble.end_epoch()


def _tell_each(ensemble: Ensemble, places: Sequence[int], each_step: Callable[[int, int], None]) -> None:
    steps = ensemble.epoch * ensemble.steps_an_epoch + ensemble.step
    for place in ensemble.going:
        each_step(places[place], steps)
