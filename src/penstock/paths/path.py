"""One path, as a reader sees it."""

from penstock.paths.alphabet import Letter
from penstock.paths.layer import Layer

__all__ = ["Path"]


class Path(tuple[int, ...]):
    """The nodes of a path, by their units' numbers: in a fully connected network the papers' I_0, …, I_d.

    The first is the input's; a path that begins with a bias has -1 there, for the input that is 1. Prints as
    `x[1] → 0[2] → 2[0]`, with the layers' places in the module.
    """

    layers: tuple[Layer, ...]
    """The layer of each node."""
    weights: tuple[Letter, ...]
    """The string of weights: one for each node but the first and those of max-pooling."""

    def __new__(
        cls, units: tuple[int, ...], layers: tuple[Layer, ...], weights: tuple[Letter, ...]
    ) -> "Path":
        path = super().__new__(cls, units)
        path.layers, path.weights = layers, weights
        return path

    def __getnewargs__(self) -> tuple[tuple[int, ...], tuple[Layer, ...], tuple[Letter, ...]]:
        return tuple(self), self.layers, self.weights

    def __repr__(self) -> str:
        return " → ".join(layer.node(unit) for layer, unit in zip(self.layers, self, strict=True))
