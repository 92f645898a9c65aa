"""A user's inputs, checked: tensors, NumPy arrays and data loaders become tensors that the model can take."""

from collections.abc import Iterator, Sized
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, IterableDataset

from penstock.errors import PenstockError
from penstock.model.loaders import from_loader
from penstock.model.place import Placement, placement

__all__ = ["Inputs", "batches", "how_many", "whole"]

Inputs = Tensor | np.ndarray | DataLoader
"""What every question takes as `x`."""


def batches(model: nn.Module, x: Inputs, *, size: int | None = None) -> Iterator[Float[Tensor, "n *shape"]]:
    """The examples of x, in order, in the model's dtype and on its device.

    A tensor must have both already; arrays and the batches of a loader are converted. A tensor or an array is
    one batch, unless `size` says how many examples a batch has; a loader has its own batches.
    """
    if size is not None and size < 1:
        raise PenstockError(f"a batch has at least one example, not {size}")
    where = placement(model)
    row = 0
    for part in _parts(x, size):
        batch = _converted(part, where, loaded=isinstance(x, DataLoader))
        _check_numbers(batch, row)
        row += len(batch)
        yield batch
    if not row:
        raise PenstockError("the loader gives no batch at all; look at its data set")


def whole(model: nn.Module, x: Inputs) -> Float[Tensor, "n *shape"]:
    """All examples of x as one tensor."""
    every = list(batches(model, x))
    shapes = {tuple(batch.shape[1:]) for batch in every}
    if len(shapes) > 1:
        one, other, *_ = sorted(shapes)
        raise PenstockError(
            f"the loader's batches hold examples of different shapes, {one} and {other}; make them one size"
        )
    return every[0] if len(every) == 1 else torch.cat(every)


def how_many(x: Inputs) -> int | None:
    """The number of examples of x, or None where only going through it tells."""
    if not isinstance(x, DataLoader):
        _check_given(x)
        return len(x)
    # a loader without batches of its own counts batches, and a stream may end anywhere
    counts = x.batch_sampler is not None and not isinstance(x.dataset, IterableDataset)
    return len(x.sampler) if counts and isinstance(x.sampler, Sized) else None


def _parts(x: Any, size: int | None) -> Iterator[Any]:
    if isinstance(x, DataLoader):
        for part in from_loader(x):
            if isinstance(part, Tensor | np.ndarray):
                _check_given(part)
            yield part
    else:
        _check_given(x)
        step = size or len(x)
        yield from (x[start : start + step] for start in range(0, len(x), step))


def _check_given(x: Any) -> None:
    if isinstance(x, Dataset):
        raise PenstockError(
            f"x is a data set ({type(x).__name__}); put it in a torch.utils.data.DataLoader(x, "
            "batch_size=256)"
        )
    if not isinstance(x, Tensor | np.ndarray):
        raise PenstockError(f"x must be a tensor, a NumPy array or a DataLoader, not {type(x).__name__}")
    if isinstance(x, Tensor):
        _check_kind(x)
    if x.ndim == 0:
        raise PenstockError("x is a single number, and examples × features are needed: x.reshape(1, 1)")
    if x.ndim == 1:
        raise PenstockError(
            f"x has one dimension, of {len(x)}, and examples × features are needed: x[None] for one example, "
            "x[:, None] for many of one feature"
        )
    if 0 in x.shape:
        raise PenstockError(f"x is empty (its shape is {tuple(x.shape)}); give it at least one example")


def _converted(part: Any, where: Placement, *, loaded: bool) -> Tensor:
    if isinstance(part, np.ndarray):
        return _from_array(part, where)
    if not isinstance(part, Tensor):
        raise PenstockError(
            f"the loader gives batches of type {type(part).__name__}, and tensors or arrays are needed"
        )
    if loaded:
        return part.to(device=where.device, dtype=where.dtype)
    if where.dtype is not None and part.dtype != where.dtype:
        raise PenstockError(
            f"x is {part.dtype} and the model is {where.dtype}; convert one: x.to({where.dtype}) or "
            f"model.to({part.dtype})"
        )
    if where.device is not None and part.device != where.device:
        raise PenstockError(
            f"x is on {part.device} and the model is on {where.device}; move one: x.to('{where.device}')"
        )
    return part


def _from_array(array: np.ndarray, where: Placement) -> Tensor:
    if array.dtype.kind not in "fiu":
        raise PenstockError(f"x is an array of {array.dtype}, and real numbers are needed")
    # contiguous and in the machine's own byte order, which is all that torch takes; and its own copy, so that
    # a model that writes into its input does not write into the user's array
    native = np.array(array, dtype=array.dtype.newbyteorder("="), order="C", copy=True)
    if native.dtype == np.longdouble:
        native = native.astype(np.float64)
    return torch.from_numpy(native).to(device=where.device, dtype=where.dtype or torch.get_default_dtype())


def _check_kind(x: Tensor) -> None:
    if x.is_complex():
        raise PenstockError(
            f"x is {x.dtype}, and gates and paths are defined for real numbers only; give its real part"
        )
    if not x.is_floating_point():
        raise PenstockError(
            f"x is {x.dtype}, and floating-point numbers are needed; convert it, x.float(), or where a model "
            "begins with an embedding give what comes after it, with penstock.adapt"
        )
    if x.layout is not torch.strided:
        raise PenstockError(f"x is laid out as {x.layout}; make it dense first: x.to_dense()")


def _check_numbers(batch: Tensor, first_row: int) -> None:
    finite = torch.isfinite(batch)
    if bool(finite.all()):
        return
    row = int((~finite).flatten(1).any(1).nonzero()[0])
    what = "NaN" if bool(torch.isnan(batch[row]).any()) else "an infinite number"
    raise PenstockError(f"x has {what} in row {first_row + row}; leave the row out or repair it")
