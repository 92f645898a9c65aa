"""The trainings behind N Table 2: of every row, all seeds of one regime at once, each regime a part of the
run.

The runs of one seed belong together: both kinds of random gates come from the same feature network, and all
regimes meet the data in one order. So their differences are judged by pairs.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from penstock.decoupled.regimes import regime as in_regime
from penstock.errors import PenstockError
from penstock.gates.gate import Soft
from penstock.lab.claims.claim import Evidence, Run
from penstock.lab.claims.table_2 import REGIMES, ROWS, Row, Settings
from penstock.lab.data.dataset import DataSet
from penstock.lab.data.named import load_data
from penstock.lab.models.convolutional import gconv_network, vconv_network
from penstock.lab.models.fully_connected import fc_network
from penstock.lab.models.initialization import GlorotUniform
from penstock.lab.models.random_sizes import seeded
from penstock.training.loop import train
from penstock.training.member import Member
from penstock.training.recipe import SGD, Adam, Recipe
from penstock.training.trained import Trained

__all__ = ["trained_row"]

_CONVOLUTIONAL = {"vconv": vconv_network, "gconv": gconv_network}
# Each draws from numbers of its own: gates that are learnt must not meet the weights they were learnt with.
_MODEL, _GATES, _VALUES = range(3)
_BEST = "best"


def trained_row(name: str, settings: Settings, run: Run) -> dict[str, Evidence]:
    """What became of every regime of a row, by its name. ReLU comes first, since FLNPF takes its gates."""
    data = load_data(settings.data or ROWS[name].data, run.data).to(run.device)
    row = _TrainedRow(name, ROWS[name], settings, run, data)
    relu = row.part("relu", {})
    return {each: relu if each == "relu" else row.part(each, relu) for each in REGIMES}


class _TrainedRow:
    def __init__(self, name: str, row: Row, settings: Settings, run: Run, data: DataSet):
        self._name, self._row, self._settings, self._run = name, row, settings, run
        self._data = data.flat() if row.architecture == "fc" else data

    def part(self, regime: str, relu: Evidence) -> Evidence:
        """One regime, all seeds; `relu` holds what FLNPF begins from."""
        name = f"{self._name}-{regime}"
        return self._run.part(name, lambda: self._train(name, regime, relu))

    def _train(self, name: str, regime: str, relu: Evidence) -> dict[str, object]:
        members = [
            Member(f"seed {seed}", self._network(regime, place, relu), seed)
            for place, seed in enumerate(self._settings.seeds)
        ]
        trained = train(
            members,
            self._data.train,
            self._data.test,
            self._recipe,
            journal=lambda **metrics: self._run.journal.write(row=self._name, regime=regime, **metrics),
            progress=self._run.progress,
            checkpoint=self._run.folder(name),
        )
        return _told(trained, keep=regime == "relu")

    @property
    def _recipe(self) -> Recipe:
        settings, row = self._settings, self._row
        kind = {"adam": Adam, "sgd": SGD}[row.optimizer]
        return Recipe(settings.epochs or row.epochs, kind(settings.rate or row.rate), batch=settings.batch)

    def _network(self, regime: str, place: int, relu: Evidence) -> nn.Module:
        settings = self._settings
        seed = settings.seeds[place]
        model = self._model(seed)
        if regime == "relu":
            return model.to(self._run.device)
        learnt = regime == "flnpf"
        trained = None
        if learnt:
            trained = self._model(seed)
            trained.load_state_dict(_best_of(place, seed, relu))
        gated = in_regime(
            model,
            regime,  # pyright: ignore[reportArgumentType]
            gate=Soft(settings.beta, settings.epsilon) if regime == "dlnpf" else None,
            trained=trained,
            init=GlorotUniform(),
            generator=seeded(seed, _VALUES if learnt else _GATES),
        )
        return gated.to(self._run.device)

    def _model(self, seed: int) -> nn.Module:
        generator, shape = seeded(seed, _MODEL), self._data.shape
        classes = len(self._data.classes)
        if self._row.architecture == "fc":
            return fc_network(generator, inputs=shape[0], classes=classes, width=self._settings.width)
        make = _CONVOLUTIONAL[self._row.architecture]
        return make(generator, image=shape, classes=classes)  # pyright: ignore[reportArgumentType]


def _told(trained: list[Trained], *, keep: bool) -> dict[str, object]:
    """Accuracies in percent; the best weights too, where another regime begins from them."""
    nowhere = float("nan")
    bests = [each.best for each in trained]
    told: dict[str, object] = {
        "test": _numbers([100 * best.accuracy if best else nowhere for best in bests]),
        "best_epoch": _numbers([float(best.epoch) if best else nowhere for best in bests]),
        "train": _numbers([100 * _last(each, "train_accuracy") for each in trained]),
        "diverged": sum(each.diverged is not None for each in trained),
        "seconds": max(_last(each, "seconds") for each in trained),
        "epochs": max(_last(each, "epoch") for each in trained),
    }
    if keep:
        for place, each in enumerate(trained):
            told |= {f"{_BEST}/{place}/{name}": tensor for name, tensor in (each.best_state or {}).items()}
    return told


def _best_of(place: int, seed: int, relu: Evidence) -> Mapping[str, Tensor]:
    start = f"{_BEST}/{place}/"
    best = {name.removeprefix(start): each for name, each in relu.items() if name.startswith(start)}
    if not best:
        raise PenstockError(
            f"the ReLU network of seed {seed} diverged in its first epoch, so there are no gates to take "
            "from it; try a smaller rate"
        )
    return best


def _last(trained: Trained, name: str) -> float:
    return float(trained.history[name][-1]) if name in trained.history else float("nan")


def _numbers(values: list[float]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)
