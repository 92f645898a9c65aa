"""The settings of D Experiments 3 to 5: networks of six weight layers, fitted by squared loss."""

from dataclasses import dataclass

from penstock.lab.claims.least import check_least, check_positive

__all__ = ["FITTED", "LAST_EPOCHS", "SixLayers"]

LAST_EPOCHS = 0.1
"""The share of the epochs, the last ones, over which an accuracy is averaged: single epochs scatter by as
much as networks differ."""

FITTED = 99.0
"""The accuracy in percent on its training examples at which a network has fitted them: only then is a
difference on test examples one of generalisation."""


@dataclass(frozen=True)
class SixLayers:
    data: str = "binary-mnist"
    """The data set: binary-mnist, with targets ±1, or any with labels: a label is a row of 0s with one 1."""
    examples: int | None = None
    """How many of the examples to train on are taken, the first ones; without it all."""
    width: int = 100
    """Units w in each hidden layer; weights are ±√(2/w), in the first layer too, without biases."""
    hidden: int = 5
    """Hidden layers; the number d of weight layers is one more."""
    epochs: int = 100
    """Epochs of every training."""
    rate: float = 1e-4
    """RMSprop's step."""
    batch: int = 64
    """Examples in a step; 64 is what the authors' code has for this network in N's later experiment."""
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    """One run of every network each: its weights, and its order of the data."""

    def __post_init__(self):
        # a spread and an interval take three runs or more
        check_least(self, width=1, hidden=1, epochs=1, batch=1, seeds=3)
        check_positive(self, "rate")
        if self.examples is not None:
            check_least(self, examples=1)
