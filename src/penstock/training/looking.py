"""The look at an ensemble at the end of an epoch: scores, measurements, the best weights, snapshots."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from penstock.model import left_as_found
from penstock.training.accuracy import has_accuracy
from penstock.training.asking import Asked
from penstock.training.ensemble import Ensemble
from penstock.training.evaluation import Scores, evaluate
from penstock.training.examples import Examples
from penstock.training.trained import Best

__all__ = ["Looking"]

_TOLD = ("epoch", "train_loss", "train_accuracy", "test_loss", "test_accuracy", "seconds")


class Looking:
    """What `asked` says, on the test set where there is one."""

    def __init__(self, ensemble: Ensemble, asked: Asked, test: Examples | None, rows: int):
        self._ensemble, self._asked, self._test, self._rows = ensemble, asked, test, rows
        self._known = has_accuracy(ensemble.train.y)

    def start(self) -> None:
        """Before the first step."""
        if 0 in self._asked.snapshots:
            for place, trained in enumerate(self._ensemble.trained):
                trained.snapshots[0] = self._ensemble.state_of(place)

    def tell_again(self) -> None:
        """Tell the journal what a checkpoint knows: its lines since then may be another start's."""
        for place, row in enumerate(self._ensemble.rows):
            for each in range(len(row.get("epoch", ()))):
                self._tell(place, {name: _number(row[name][each]) for name in _TOLD})

    def epoch(self) -> None:
        """After each epoch, for the members that were trained in it."""
        ensemble, epoch = self._ensemble, self._ensemble.epoch
        loss, accuracy = ensemble.averages()
        reached = [
            place
            for place in ensemble.going
            if ensemble.recipe.stop_at is not None and float(accuracy[place]) >= ensemble.recipe.stop_at
        ]
        if self._asked.evaluates(epoch, ensemble.recipe.epochs) or reached:
            self._evaluate(loss, accuracy)
        for place in ensemble.going:
            if epoch in self._asked.snapshots:
                ensemble.trained[place].snapshots[epoch] = ensemble.state_of(place)
        for place in reached:
            ensemble.trained[place].stopped = epoch
            ensemble.stop(place)

    def finish(self) -> None:
        """The histories as arrays."""
        for trained, row in zip(self._ensemble.trained, self._ensemble.rows, strict=True):
            trained.history = {name: _column(values) for name, values in row.items()}

    def _evaluate(self, loss: Tensor, accuracy: Tensor) -> None:
        ensemble = self._ensemble
        scores = self._scores()
        for place in ensemble.going:
            row: dict[str, Any] = {
                "epoch": ensemble.epoch,
                "train_loss": float(loss[place]),
                "train_accuracy": float(accuracy[place]) if self._known else float("nan"),
                "test_loss": float(scores.loss[place]),
                "test_accuracy": float(scores.accuracy[place]),
                "seconds": ensemble.seconds,
            }
            self._keep_best(place, row["test_accuracy"])
            self._tell(place, row)
            row |= self._measured(place)
            for name, value in row.items():
                ensemble.rows[place].setdefault(name, []).append(value)

    def _scores(self) -> Scores:
        ensemble = self._ensemble
        if self._test is None:
            unknown = torch.full((len(ensemble.members),), torch.nan)
            return Scores(unknown, unknown)
        return evaluate(ensemble.way, ensemble.flat.parameters, ensemble.loss, self._test, "test", self._rows)

    def _keep_best(self, place: int, accuracy: float) -> None:
        trained = self._ensemble.trained[place]
        if accuracy == accuracy and (trained.best is None or accuracy > trained.best.accuracy):
            trained.best = Best(self._ensemble.epoch, accuracy)
            trained.best_state = self._ensemble.state_of(place)

    def _tell(self, place: int, row: dict[str, Any]) -> None:
        if self._asked.journal is not None:
            self._asked.journal(member=self._ensemble.members[place].name, **row)

    def _measured(self, place: int) -> dict[str, Any]:
        model = self._ensemble.models[place]
        measured = {}
        for name, function in self._asked.also.items():
            with left_as_found(model):
                model.eval()
                value = function(model)
            tensor = isinstance(value, Tensor)
            measured[name] = value.detach().cpu().numpy().copy() if tensor else np.array(value)
        return measured


def _column(values: list[Any]) -> np.ndarray:
    """One row an evaluation; where their shapes differ, an array of arrays."""
    arrays = [np.asarray(value) for value in values]
    if len({array.shape for array in arrays}) == 1:
        return np.stack(arrays)
    ragged = np.empty(len(arrays), dtype=object)
    ragged[:] = arrays
    return ragged


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.ndarray | np.generic) else value
