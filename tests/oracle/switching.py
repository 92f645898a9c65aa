"""When gates flip, by looking at 100,000 places of the line between two sets of weights (N Definition 3.3).

For plain fully connected networks, given as weight matrices and biases before and after a step; in NumPy,
place by place, with nothing known about polynomials.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

PLACES = 100_000


@dataclass(frozen=True)
class Flip:
    """Between `place` and the next, counted in shares of the step of 1/`places`."""

    place: int
    layer: int
    unit: int
    example: int
    opened: bool


@dataclass(frozen=True)
class Net:
    """`weights[l]` is next × this; ReLU between the layers."""

    weights: Sequence[np.ndarray]
    biases: Sequence[np.ndarray]


def gates_at(before: Net, after: Net, x: np.ndarray, shares: np.ndarray) -> list[np.ndarray]:
    """By hidden layer: shares × examples × units, whether q > 0 with (1 - share) · before + share · after."""
    t = shares[:, None, None]
    z = np.broadcast_to(x, (len(shares), *x.shape))
    gates = []
    parts = zip(before.weights, after.weights, before.biases, after.biases, strict=True)
    for w0, w1, b0, b1 in list(parts)[:-1]:
        weight, bias = (1 - t) * w0 + t * w1, (1 - t) * b0 + t * b1
        q = np.einsum("tni,toi->tno", z, weight) + bias
        gates.append(q > 0)
        z = q * gates[-1]
    return gates


def flips(before: Net, after: Net, x: np.ndarray, places: int = PLACES) -> list[Flip]:
    """Every change between neighboring places, in the order of time."""
    found: list[Flip] = []
    size = 5_000
    for first in range(0, places, size):
        last = min(first + size, places)
        shares = np.arange(first, last + 1) / places
        for layer, opened in enumerate(gates_at(before, after, x, shares)):
            for place, example, unit in np.argwhere(opened[1:] != opened[:-1]).tolist():
                found.append(
                    Flip(first + place, layer, unit, example, bool(opened[place + 1, example, unit]))
                )
    return sorted(found, key=lambda flip: (flip.place, flip.layer, flip.unit, flip.example))
