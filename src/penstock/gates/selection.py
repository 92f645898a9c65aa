"""Which examples `record.select` means: what NumPy and torch take as an index along one dimension."""

from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from penstock.errors import PenstockError

__all__ = ["Examples", "rows_of"]

Examples = SupportsIndex | slice | Sequence[int] | Sequence[bool] | np.ndarray | Tensor


def rows_of(examples: object, n: int) -> Int64[Tensor, " k"]:
    """The rows, out of n, that `examples` selects: at least one of them, and all within range."""
    if isinstance(examples, slice):
        # torch has no slices that go backwards
        rows = torch.tensor(range(n)[examples], dtype=torch.int64)
    else:
        rows = _rows_of_index(examples, n)
    if not len(rows):
        raise PenstockError(f"the selection keeps none of the {n} examples; a record needs at least one")
    return rows


def _rows_of_index(examples: object, n: int) -> Tensor:
    try:
        index = torch.as_tensor(examples).detach().cpu()
    except (TypeError, ValueError, RuntimeError):
        index = torch.tensor(0.0)
    if index.numel() == 0:
        return torch.zeros(0, dtype=torch.int64)
    if index.dtype == torch.bool and index.dim() == 1:
        if len(index) != n:
            raise PenstockError(
                f"the mask has {len(index)} entries and the record {n} examples; give one entry each"
            )
        return index.nonzero().flatten()
    if index.is_floating_point() or index.is_complex() or index.dtype == torch.bool or index.dim() > 1:
        raise PenstockError(
            "examples are selected by a whole number, a slice, a list of whole numbers or a mask, not by "
            f"{examples!r}"
        )
    index = index.reshape(-1).long()
    outside = index[(index < -n) | (index >= n)]
    if len(outside):
        raise PenstockError(
            f"there is no example {int(outside[0])}: the record holds {n}, numbered from 0 to {n - 1}"
        )
    return index % n
