"""Polynomials along a line, from their values at a few places.

A polynomial of degree k is known from k + 1 values. Written as Σ c_j B_j with Bernstein's polynomials B_j, which are
never negative and sum to one, it stays between the smallest and the largest c_j: where all have one sign there is no
crossing of zero, and nothing else needs to be looked at.
"""

from functools import cache
from math import comb

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Int64
from torch import Tensor

__all__ = ["changes", "doubtful", "from_values", "nodes"]


@cache
def nodes(length: int, count: int) -> tuple[int, ...]:
    """Where to look between 0 and `length`, ends included: at `count` Chebyshev points, or at every place where those
    would fall together."""
    turns = np.arange(count) * np.pi / (count - 1)
    places = np.rint(length * (1 - np.cos(turns)) / 2).astype(int)
    return tuple(places.tolist()) if len(set(places.tolist())) == count < length else tuple(range(length + 1))


@cache
def from_values(length: int, count: int) -> Float64[Tensor, "count count"]:
    """The matrix that makes Bernstein coefficients from the values at `nodes(length, count)`."""
    basis = _basis(np.array(nodes(length, count)) / length, count)
    return torch.from_numpy(np.linalg.inv(basis))


@cache
def _everywhere(length: int, count: int) -> Float64[Tensor, "places count"]:
    """The matrix that makes the values at 0, 1, …, `length` from those at the nodes."""
    return torch.from_numpy(_basis(np.arange(length + 1) / length, count)) @ from_values(length, count)


def _basis(t: np.ndarray, count: int) -> np.ndarray:
    degree = count - 1
    return np.stack([comb(degree, j) * t**j * (1 - t) ** (degree - j) for j in range(count)], axis=1)


def doubtful(
    values: Float[Tensor, "items count m"], matrices: Float[Tensor, "items count count"]
) -> Bool[Tensor, "items m"]:
    """Whether a polynomial may be above zero at one place and not at another."""
    coefficients = torch.bmm(matrices, values)
    above = coefficients > 0
    return above.any(1) & ~above.all(1)


def changes(values: Float[Tensor, "count m"], length: int) -> Int64[Tensor, " k"]:
    """The places c for which a polynomial is above zero at c and not at c + 1, or the other way round."""
    everywhere = _everywhere(length, len(values)).to(values.device) @ values.double()
    above = everywhere > 0
    return (above[1:] != above[:-1]).any(1).nonzero().flatten()
