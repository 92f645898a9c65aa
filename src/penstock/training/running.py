"""Running an ensemble to its end: epoch after epoch, step after step."""

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext

from penstock.training.asking import Asked
from penstock.training.binding import bound
from penstock.training.checkpoints.keeping import Keeping
from penstock.training.ensemble import Ensemble
from penstock.training.interruption import Interruption
from penstock.training.looking import Looking

__all__ = ["Running"]


class Running:
    """`places` are the members' numbers in the list that the user gave."""

    def __init__(
        self,
        ensemble: Ensemble,
        places: Sequence[int],
        asked: Asked,
        looking: Looking,
        keeping: Keeping | None,
    ):
        self._ensemble, self._places, self._asked = ensemble, places, asked
        self._looking, self._keeping = looking, keeping
        self._within = False

    def run(self) -> None:
        """From where the ensemble is, which may be a checkpoint in the middle of an epoch."""
        ensemble = self._ensemble
        with bound(ensemble.models, {**ensemble.flat.parameters, **ensemble.buffers}):
            if self._keeping is not None and self._keeping.resume(ensemble):
                self._looking.tell_again()
            else:
                self._looking.start()
            try:
                with Interruption() if self._keeping is not None else nullcontext() as interruption:
                    self._epochs(interruption)
            except KeyboardInterrupt:
                # in the middle of a step there is nothing that one could go on from
                if self._keeping is not None and not self._within:
                    self._keeping.write(ensemble)
                raise
            self._looking.finish()

    def _epochs(self, interruption: Interruption | None) -> None:
        ensemble = self._ensemble
        left = range(ensemble.epoch, ensemble.recipe.epochs)
        for _ in self._asked.follow(left, "epochs", len(left)):
            if not ensemble.going:
                break
            self._epoch(interruption)
        if self._keeping is not None and left:
            self._keeping.write(ensemble)

    def _epoch(self, interruption: Interruption | None) -> None:
        ensemble = self._ensemble
        ensemble.begin_epoch()
        left = ensemble.steps_an_epoch - ensemble.step
        began, before = time.perf_counter(), ensemble.seconds
        for rows in self._asked.follow(ensemble.batches(), f"steps of epoch {ensemble.epoch + 1}", left):
            self._within = True
            ensemble.take(rows)
            self._within = False
            ensemble.seconds = before + time.perf_counter() - began
            if self._asked.each_step is not None:
                ensemble.settle()
                self._tell_each(self._asked.each_step)
            if ensemble.step < ensemble.steps_an_epoch:
                self._between(interruption)
        self._within = True
        ensemble.settle()
        ensemble.end_epoch()
        self._looking.epoch()
        self._within = False
        self._between(interruption)

    def _between(self, interruption: Interruption | None) -> None:
        if self._keeping is not None:
            self._keeping.write_if_due(self._ensemble)
        if interruption is not None:
            interruption.heed()

    def _tell_each(self, each_step: Callable[[int, int], None]) -> None:
        for place in self._ensemble.going:
            each_step(self._places[place], self._ensemble.taken)
