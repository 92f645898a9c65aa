"""The trainings of D Experiments 3 to 5: all seeds of one kind of network at once, each kind a part of the
run.

The runs of one seed belong together: every kind meets the data in one order, and where two kinds have a
weight in common it is the same draw. So their differences are judged by pairs.
"""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from penstock.decoupled.decoupling import decouple
from penstock.decoupled.network import GatedNetwork
from penstock.gates.gate import Gate, Hard
from penstock.lab.claims.claim import Evidence, Run
from penstock.lab.claims.six_layers import SixLayers
from penstock.lab.data.dataset import DataSet
from penstock.lab.data.named import load_data
from penstock.lab.models.fully_connected import relu_network
from penstock.lab.models.initialization import Bernoulli
from penstock.lab.models.random_sizes import seeded
from penstock.training.examples import Examples
from penstock.training.loop import train
from penstock.training.member import Member
from penstock.training.recipe import Recipe, RMSprop
from penstock.training.trained import Trained

__all__ = ["SixLayersTraining", "adapting_pair", "curves", "fixed_pair"]

# Each draws from numbers of its own: gates must not meet the weights that they were learnt with.
_GATES, _VALUES = range(2)


class SixLayersTraining:
    """The data of a run, and its networks drawn and trained."""

    def __init__(self, settings: SixLayers, run: Run):
        self._settings, self._run = settings, run
        loaded = load_data(settings.data, run.data).flat().to(run.device, torch.float32)
        data = loaded.change(lambda examples: _with_targets(examples, loaded))
        self._train = data.train.select(slice(0, settings.examples))
        self._test = data.test
        self._widths = (data.shape[0], *[settings.width] * settings.hidden, data.train.y.shape[1])

    def gates(self, seed: int) -> nn.Sequential:
        """The ReLU network of a seed; and what opens the gates of the others of that seed."""
        return self._network(seed, _GATES)

    def values(self, seed: int) -> nn.Sequential:
        """The same architecture, drawn independently."""
        return self._network(seed, _VALUES)

    def part(self, name: str, make: Callable[[int], nn.Module], *, keep_weights: bool = False) -> Evidence:
        """What became of the networks that `make` gives for each seed: runs × epochs, in percent."""
        return self._run.part(name, lambda: self._trained(name, make, keep_weights))

    def with_weights_of(self, part: Evidence, seed: int) -> nn.Sequential:
        """The ReLU network that a part, told to keep its weights, ended with."""
        network, start = self.gates(seed), _weights_of(seed)
        network.load_state_dict(
            {name.removeprefix(start): value for name, value in part.items() if name.startswith(start)}
        )
        return network

    def _network(self, seed: int, which: int) -> nn.Sequential:
        law = Bernoulli((2 / self._settings.width) ** 0.5)
        return relu_network(self._widths, law, seeded(seed, which), dtype=torch.float32)

    def _trained(self, name: str, make: Callable[[int], nn.Module], keep_weights: bool) -> Evidence:
        settings, run = self._settings, self._run
        trained = train(
            [Member(f"seed {seed}", make(seed).to(run.device), seed) for seed in settings.seeds],
            self._train,
            self._test,
            Recipe(settings.epochs, RMSprop(settings.rate), loss="mean squared", batch=settings.batch),
            journal=lambda **metrics: run.journal.write(network=name, **metrics),
            progress=run.progress,
            checkpoint=run.folder("checkpoints"),
        )
        told: dict[str, object] = {
            "train": _over_epochs(trained, "train_accuracy", settings.epochs),
            "test": _over_epochs(trained, "test_accuracy", settings.epochs),
            "train_loss": _over_epochs(trained, "train_loss", settings.epochs),
            "diverged": sum(each.diverged is not None for each in trained),
            "seconds": max(float(each.history["seconds"][-1]) for each in trained if each.history),
        }
        if keep_weights:
            for seed, each in zip(settings.seeds, trained, strict=True):
                told |= {_weights_of(seed) + key: value for key, value in each.model.state_dict().items()}
        return told


def adapting_pair(features: nn.Module, values: nn.Module, gate: Gate, feature_gate: Gate) -> GatedNetwork:
    """N(Θ^g, β; Θ^w): both networks learn (D Table 3, soft-GaLU)."""
    pair = decouple(values, gate, feature_gate=feature_gate)
    pair.feature.load_state_dict(features.state_dict())
    return pair


def fixed_pair(features: nn.Module, values: nn.Module) -> GatedNetwork:
    """N(Θ^g_†, ∞; Θ^w): the gates of `features` stay as they are (D Table 3, frozen GaLU)."""
    pair = decouple(values, Hard(), train="value")
    pair.feature.load_state_dict(features.state_dict())
    return pair


def curves(names: Sequence[str], parts: Sequence[Evidence]) -> dict[str, object]:
    """Networks × runs × epochs, of the parts; and what else they say."""
    return {
        "networks": "; ".join(names),
        "train": torch.stack([part["train"] for part in parts]),
        "test": torch.stack([part["test"] for part in parts]),
        "train_loss": torch.stack([part["train_loss"] for part in parts]),
        "diverged": sum(part["diverged"] for part in parts),
        "seconds": torch.tensor([part["seconds"] for part in parts], dtype=torch.float64),
    }


def _with_targets(examples: Examples, data: DataSet) -> Examples:
    """What squared loss fits: targets as they are, or a row with one 1 for each label."""
    if examples.y.is_floating_point():
        return examples
    return Examples(examples.x, functional.one_hot(examples.y, len(data.classes)).to(examples.x.dtype))


def _weights_of(seed: int) -> str:
    return f"weights of seed {seed}/"


def _over_epochs(trained: Sequence[Trained], what: str, epochs: int) -> Float[Tensor, "runs epochs"]:
    """NaN after a divergence; shares in percent."""
    every = torch.full((len(trained), epochs), float("nan"), dtype=torch.float64)
    for row, each in enumerate(trained):
        found = torch.as_tensor(each.history.get(what, []), dtype=torch.float64)
        every[row, : len(found)] = 100 * found if what.endswith("accuracy") else found
    return every
