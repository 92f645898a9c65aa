"""A user's inputs with what is wanted for them, as the training loop takes them."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from penstock.errors import PenstockError
from penstock.model import placement, whole
from penstock.training.examples import Examples

__all__ = ["Labelled", "labelled"]

Labelled = Examples | tuple[Tensor | np.ndarray, Tensor | np.ndarray] | DataLoader | Dataset
"""What is taken as a training or test set: (x, y), or a data set or loader of such pairs."""


def labelled(model: nn.Module, name: str, given: Any) -> Examples:
    """All of it as tensors on the model's device, inputs in the model's dtype; labels stay whole numbers."""
    match given:
        case DataLoader():
            x, y = _all_of(name, given)
        case (x, y):
            pass
        case Dataset():
            x, y = _all_of(name, DataLoader(given, batch_size=256))
        case _:
            raise PenstockError(
                f"{name} is a {type(given).__name__}, and inputs with their labels are needed: a pair (x, y),"
                " a data set or a DataLoader of such pairs"
            )
    x, y = (torch.from_numpy(each) if isinstance(each, np.ndarray) else each for each in (x, y))
    if not isinstance(x, Tensor) or not isinstance(y, Tensor):
        raise PenstockError(
            f"{name} holds a {type(x).__name__} and a {type(y).__name__}, and tensors or arrays are needed"
        )
    where = placement(model)
    x = whole(model, x.to(device=where.device, dtype=where.dtype))
    y = y.to(device=where.device)
    return Examples(x, y.to(where.dtype) if y.is_floating_point() else y.to(torch.int64))


def _all_of(name: str, loader: DataLoader) -> tuple[Tensor, Tensor]:
    """Every batch of a loader, in whatever order it gives them: inputs and labels stay together."""
    pairs = []
    for batch in loader:
        if not isinstance(batch, tuple | list) or len(batch) != 2:
            raise PenstockError(
                f"{name} gives batches of {type(batch).__name__}, and pairs (x, y) are needed; give one whose"
                " collate_fn makes them"
            )
        pairs.append([torch.as_tensor(part) for part in batch])
    if not pairs:
        raise PenstockError(f"{name} gives no batch at all; look at its data set")
    x, y = (torch.cat(parts) for parts in zip(*pairs, strict=True))
    return x, y
