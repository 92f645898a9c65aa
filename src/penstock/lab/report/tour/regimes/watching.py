"""Gates watched while a network learns: how many have flipped, layer by layer, and those of a few examples
one by one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn

from penstock.decoupled.network import GatedNetwork
from penstock.gates.monitor import Monitor
from penstock.gates.record import GateRecord

__all__ = ["Movement", "Watch", "gathered", "sorted_by_class"]


@dataclass(frozen=True)
class Movement:
    """Layers × looks, means over the seeds; the first look is the start, then comes one an epoch."""

    since_start: Float[np.ndarray, "layers looks"]
    """The share of gates, over all inputs watched, that are not as they were at the start."""
    since_look: Float[np.ndarray, "layers looks"]
    """The share that are not as they were at the look before."""
    open: Float[np.ndarray, "layers looks"]
    """The share of open gates."""
    dead: Float[np.ndarray, "layers looks"]
    """The share of units that no input opens."""
    gates: int
    """How many gates were watched: over seeds, layers and inputs."""
    film: Bool[np.ndarray, "looks layers units examples"]
    """The gates of a few examples in the first seed."""

    @property
    def moves(self) -> bool:
        """Whether any gate was ever seen in another state than at the look before."""
        return bool(self.since_look.any())


class Watch:
    """A monitor of whatever makes a network's gates, which keeps the gates of a few examples too."""

    def __init__(self, model: nn.Module, probe: Tensor, sample: Int64[Tensor, " examples"]):
        gated = model.feature if isinstance(model, GatedNetwork) else model
        self.monitor = Monitor(gated, probe)
        self._sample = sample
        self._records = [self.monitor.last.select(sample)]

    def look(self) -> int:
        """Looks now; how many looks there have been."""
        self.monitor.look()
        self._records.append(self.monitor.last.select(self._sample))
        return len(self._records)

    def film(self, units: int) -> Bool[np.ndarray, "looks layers units examples"]:
        """The first units of every layer, on the examples of the sample."""
        return np.stack([_first(record, units) for record in self._records])


def gathered(watches: Sequence[Watch], units: int) -> Movement:
    """Means over the watches, and the first one's film."""
    counts = [{name: layer.gates for name, layer in each.monitor.first.items()} for each in watches]
    examples = watches[0].monitor.first.examples

    def mean(key: str, inputs: int) -> np.ndarray:
        shares = [
            [each.monitor.history[key][name] / (width * inputs) for name, width in widths.items()]
            for each, widths in zip(watches, counts, strict=True)
        ]
        return np.mean(shares, axis=0)

    return Movement(
        since_start=mean("flipped_since_start", examples),
        since_look=mean("flipped", examples),
        open=np.mean([list(each.monitor.history["open"].values()) for each in watches], axis=0),
        dead=mean("dead", 1),
        gates=examples * sum(sum(widths.values()) for widths in counts),
        film=watches[0].film(units),
    )


def sorted_by_class(y: Int64[Tensor, " n"], each: int) -> Int64[Tensor, " examples"]:
    """The rows of the first examples of every class, class after class."""
    return torch.cat([(y == label).nonzero()[:each, 0] for label in y.unique().tolist()])


def _first(record: GateRecord, units: int) -> np.ndarray:
    return np.stack([layer[:, :units].T.bool().numpy() for layer in record.to_dense().values()])
