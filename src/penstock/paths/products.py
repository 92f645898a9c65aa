"""Products along all paths at once.

Paths that begin alike share the beginning of their product: the beginnings of all paths grow together, hop by
hop, so that of d factors a path has its last is multiplied for it alone, and the earlier ones for many paths
at once.
"""

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from penstock.paths.hops import Hops

__all__ = ["along_paths"]

# Entries that one multiplication copies at a time.
_BLOCK = 1 << 22


def along_paths(
    hops: Hops,
    start: Float[Tensor, "n roots"],
    factors: Float[Tensor, "n factors"],
    which: Int64[np.ndarray, " hops"],
) -> Float[Tensor, "n paths"]:
    """For every path the start of its root times the factor of each of its hops; factor 0 is 1."""
    value = start[:, _tensor(np.flatnonzero(hops.count[: hops.roots]), start)]
    for earlier, hop in hops.levels():
        if len(earlier) != value.shape[1]:
            value = value[:, _tensor(earlier, value)]
        factor = which[hop]
        if factor.any():
            _multiply(value, factors, _tensor(factor, value))
    return value


def _multiply(value: Tensor, factors: Tensor, factor: Tensor) -> None:
    rows = max(1, _BLOCK // max(1, value.shape[1]))
    for first in range(0, len(value), rows):
        value[first : first + rows] *= factors[first : first + rows, factor]


def _tensor(numbers: np.ndarray, like: Tensor) -> Tensor:
    return torch.from_numpy(numbers).to(like.device)
