"""Polynomials along a line, from their values at a few places.

A polynomial of degree k is known from k + 1 values. Written as Σ c_j B_j with Bernstein's polynomials B_j,
which are never negative and sum to one, it stays between the smallest and the largest c_j. Each c_j is a
sum of the values whose factors sum to one, so that these are between the smallest and the largest value,
each moved out by a known multiple of the difference of the two. Where that leaves no zero between them,
nothing else needs to be looked at.
"""

from functools import cache, reduce
from math import comb

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Int64
from torch import Tensor

__all__ = ["changes", "doubtful", "margin", "nodes"]


@cache
def nodes(length: int, count: int) -> tuple[int, ...]:
    """Where to look between 0 and `length`, ends included: at `count` Chebyshev points, or at every place
    where those would fall together."""
    turns = np.arange(count) * np.pi / (count - 1)
    places = np.rint(length * (1 - np.cos(turns)) / 2).astype(int)
    return tuple(places.tolist()) if len(set(places.tolist())) == count < length else tuple(range(length + 1))


@cache
def margin(length: int, count: int) -> float:
    """How far beyond the values at `nodes(length, count)` a polynomial can go, in differences between the
    largest and the smallest of them."""
    return float(-_from_values(length, count).clip(max=0).sum(1).min())


@cache
def _from_values(length: int, count: int) -> np.ndarray:
    """The matrix that makes Bernstein coefficients from the values at the nodes."""
    return np.linalg.inv(_basis(np.array(nodes(length, count)) / length, count))


@cache
def _everywhere(length: int, count: int) -> Float64[Tensor, "places count"]:
    """The matrix that makes the values at 0, 1, …, `length` from those at the nodes."""
    return torch.from_numpy(_basis(np.arange(length + 1) / length, count) @ _from_values(length, count))


def _basis(t: np.ndarray, count: int) -> np.ndarray:
    degree = count - 1
    return np.stack([comb(degree, j) * t**j * (1 - t) ** (degree - j) for j in range(count)], axis=1)


def doubtful(
    values: Float[Tensor, "items count m"], margins: Float[Tensor, " items"]
) -> Bool[Tensor, "items m"]:
    """Whether a polynomial may be above zero at one place and not at another, with the `margin` of each
    item.
    """
    # many times faster here than a reduction over the middle dimension
    low, high = (reduce(extreme, values.unbind(1)) for extreme in (torch.minimum, torch.maximum))
    beyond = (high - low) * margins[:, None]
    return (low - beyond <= 0) & (high + beyond > 0)


def changes(values: Float[Tensor, "count m"], length: int) -> Int64[Tensor, " k"]:
    """The places c for which a polynomial is above zero at c and not at c + 1, or the other way round."""
    everywhere = _everywhere(length, len(values)).to(values.device) @ values.double()
    above = everywhere > 0
    return (above[1:] != above[:-1]).any(1).nonzero().flatten()
