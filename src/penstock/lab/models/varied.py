"""Small random networks of every kind whose paths can be listed: what a statement on any network is tried on.

Sizes, weights, biases and running statistics are drawn from one generator, so a case is its seed. Each
network has few enough paths that a matrix of all pairs of them fits.
"""

from collections.abc import Callable, Mapping
from itertools import pairwise

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional

from penstock.lab.models.circular import CircularNetwork
from penstock.lab.models.fully_connected import relu_network
from penstock.lab.models.initialization import Gaussian
from penstock.lab.models.many import Made
from penstock.lab.models.random_sizes import random_integer, random_widths
from penstock.lab.models.redrawing import redraw

__all__ = ["FAMILIES", "varied_network"]


def varied_network(family: str, generator: Generator, dtype: torch.dtype = torch.float64) -> Made:
    """A random network of this family (a key of `FAMILIES`)."""
    with torch.random.fork_rng(
        devices=[]
    ):  # torch's layers draw their first weights from the global random state
        model, shape = FAMILIES[family](generator)
    return redraw(model.to(dtype).eval(), generator), shape


class Residual(nn.Module):
    """A skip over one hidden layer, joined before or after its gate, and one with weights from the input."""

    def __init__(self, inputs: int, width: int, gate_last: bool):
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.middle = nn.Linear(width, width)
        self.last = nn.Linear(width, 1)
        self.around = nn.Linear(inputs, 1, bias=False)
        self.gate_last = gate_last

    def forward(self, x: Tensor) -> Tensor:
        h = functional.relu(self.first(x))
        bent = self.middle(h)
        h = functional.relu(bent + h) if self.gate_last else functional.relu(bent) + h
        return self.last(h) + self.around(x)


def _fully_connected(generator: Generator) -> Made:
    widths = random_widths(generator)
    return relu_network(widths, Gaussian(1.0), generator), widths[:1]


def _with_biases(generator: Generator) -> Made:
    widths = random_widths(generator)
    layers = [m for pair in pairwise(widths) for m in (nn.Linear(*pair), nn.ReLU())]
    return nn.Sequential(*layers[:-1]), widths[:1]


def _leaky(generator: Generator) -> Made:
    inputs, width = random_integer(generator, 1, 3), random_integer(generator, 1, 4)
    layers = [
        nn.Linear(inputs, width),
        nn.LeakyReLU(0.1),
        nn.Linear(width, 2),
        nn.LeakyReLU(0.3),
        nn.Linear(2, 1),
    ]
    return nn.Sequential(*layers), (inputs,)


def _residual(generator: Generator) -> Made:
    inputs = random_integer(generator, 1, 3)
    return Residual(
        inputs, random_integer(generator, 1, 4), gate_last=bool(random_integer(generator, 0, 1))
    ), (inputs,)


def _zero_padded(generator: Generator) -> Made:
    channels, positions, kernel = (
        random_integer(generator, 1, 2),
        random_integer(generator, 4, 5),
        random_integer(generator, 2, 3),
    )
    first = nn.Conv1d(channels, 2, kernel, padding=1)
    second = nn.Conv1d(2, 2, 3, stride=2, padding=1)
    left = ((positions + 2 - kernel + 1) + 2 - 3) // 2 + 1
    return (
        nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), nn.Flatten(), nn.Linear(2 * left, 1)),
        (channels, positions),
    )


def _circular(generator: Generator) -> Made:
    positions = random_integer(generator, 2, 4)
    kernel, convolutions = random_integer(generator, 1, positions), random_integer(generator, 1, 3)
    return CircularNetwork(positions, kernel, convolutions, Gaussian(1.0), generator), (1, positions)


def _image(generator: Generator) -> Made:
    channels = random_integer(generator, 1, 2)
    mode = ("zeros", "circular")[random_integer(generator, 0, 1)]
    pool = (nn.MaxPool2d(2), nn.AvgPool2d(2))[random_integer(generator, 0, 1)]
    return (
        nn.Sequential(
            nn.Conv2d(1, channels, 3, padding=1, padding_mode=mode),
            nn.ReLU(),
            pool,
            nn.Conv2d(channels, 2, 2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(2, 1),
        ),
        (1, 4, 4),
    )


def _normalized(generator: Generator) -> Made:
    positions = random_integer(generator, 3, 5)
    left = positions // 2
    return (
        nn.Sequential(
            nn.Conv1d(1, 2, 3, padding=1, bias=False),
            nn.BatchNorm1d(2),
            nn.ReLU(),
            nn.MaxPool1d(2),
            nn.Flatten(),
            nn.Linear(2 * left, 3),
            nn.ReLU(),
            nn.Linear(3, 1),
        ),
        (1, positions),
    )


FAMILIES: Mapping[str, Callable[[Generator], Made]] = {
    "fully connected": _fully_connected,
    "with biases": _with_biases,
    "leaky gates": _leaky,
    "skips": _residual,
    "zero-padded convolutions": _zero_padded,
    "circular convolutions, mean over positions": _circular,
    "images, max- or average pooling": _image,
    "batch normalization and max-pooling": _normalized,
}
"""A name for each kind, and how one of it is drawn."""
