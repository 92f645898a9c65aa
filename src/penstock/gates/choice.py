"""Max-pooling as gates: of every window, one entry is let through and the others are shut.

A pattern has one bit for each output and each slot of its window, one of them set, at the entry that torch
chose (also among equals). So pooling is as affine as any other layer with its gates held: it picks the same
entries again.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int64
from torch import Tensor
from torch.overrides import handle_torch_function, has_torch_function

from penstock.gates.kind import Kind

__all__ = ["AdaptiveChoice", "Choice", "Pooling"]

_POOL = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
_ADAPTIVE_POOL = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}


class Windows(NamedTuple):
    """Along one dimension: slot s of window o looks at position `first[o] + s * step`."""

    first: Int64[Tensor, " out"]
    step: int
    slots: int


class Pooling(Kind):
    """What both kinds of max-pooling share; they pool the last `dims` dimensions."""

    @property
    @abstractmethod
    def dims(self) -> int:
        """How many dimensions are pooled: 1, 2 or 3."""

    @abstractmethod
    def pooled(self, q: Float[Tensor, "n *shape"]) -> tuple[Float[Tensor, "n *out"], Int64[Tensor, "n *out"]]:
        """The maxima, and where torch found each: its place in the flattened pooled dimensions."""

    @abstractmethod
    def pooled_size(self, size: tuple[int, ...]) -> tuple[int, ...]:
        """What pooled dimensions of these sizes have afterwards."""

    @abstractmethod
    def windows(self, size: tuple[int, ...], out: tuple[int, ...], device: torch.device) -> list[Windows]:
        """The windows along each pooled dimension, for an input and an output of these sizes."""

    def indices(self, q: Float[Tensor, "n *shape"]) -> Int64[Tensor, "n *out"]:
        """Where torch finds each maximum; for any watch outside this is no call of the model's."""
        return _places(q, self)

    def read(self, q: Float[Tensor, "n *shape"]) -> Bool[Tensor, "n *gates"]:
        return self.choosing(self.indices(q), tuple(q.shape[-self.dims :]))

    def choosing(self, place: Int64[Tensor, "n *out"], size: tuple[int, ...]) -> Bool[Tensor, "n *gates"]:
        """The pattern that finds the maxima at these places of pooled dimensions of this size."""
        windows = self.windows(size, tuple(place.shape[-self.dims :]), place.device)
        slot = torch.zeros_like(place)
        for axis, (coordinate, window) in enumerate(zip(_unravel(place, size), windows, strict=True)):
            first = _along(window.first, axis, self.dims)
            slot = slot * window.slots + (coordinate - first) // window.step
        slots = math.prod(window.slots for window in windows)
        return slot.unsqueeze(-1) == torch.arange(slots, device=place.device)

    def apply(
        self, q: Float[Tensor, "n *shape"], pattern: Bool[Tensor, "n *gates"]
    ) -> Float[Tensor, "n *out"]:
        size, out = q.shape[-self.dims :], pattern.shape[-self.dims - 1 : -1]
        windows = self.windows(tuple(size), tuple(out), q.device)
        slot = pattern.to(torch.uint8).argmax(-1)
        place = torch.zeros_like(slot)
        by_axis = _unravel(slot, [window.slots for window in windows])
        for axis, (which, window) in enumerate(zip(by_axis, windows, strict=True)):
            place = place * size[axis] + _along(window.first, axis, self.dims) + which * window.step
        flat = q.flatten(-self.dims).gather(-1, place.flatten(-self.dims))
        return flat.unflatten(-1, out)

    def places(
        self, q: Float[Tensor, "n *shape"], pattern: Bool[Tensor, "n *gates"]
    ) -> Int64[Tensor, "n *out"]:
        """Where a pattern that is held finds the maxima of q, as `indices` would count it."""
        size = q.shape[-self.dims :]
        numbered = torch.arange(math.prod(size), dtype=torch.float64, device=q.device).reshape(size)
        return self.apply(numbered.expand(q.shape), pattern).long()

    def value(self, pattern: Bool[Tensor, "n *gates"]) -> Float[Tensor, "n *gates"]:
        return pattern.to(torch.get_default_dtype())

    def above(self, threshold: float | int) -> Kind:
        # a choice says which entry is let through, not how much of it
        return self

    def gate_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        size = tuple(shape[-self.dims :])
        out = self.pooled_size(size)
        slots = math.prod(window.slots for window in self.windows(size, out, torch.device("cpu")))
        return (*shape[1 : -self.dims], *out, slots)


def _places(input: Float[Tensor, "n *shape"], kind: Pooling) -> Any:
    if has_torch_function((input,)):
        return handle_torch_function(_places, (input,), input, kind)
    return kind.pooled(input)[1]


@dataclass(frozen=True)
class Choice(Pooling):
    """max_pool1d, 2d and 3d; one number for each pooled dimension, as `Choice.of` makes of torch's own
    arguments.
    """

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    ceil_mode: bool = False

    @classmethod
    def of(
        cls,
        dims: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
    ) -> "Choice":
        """The kind of `F.max_pool2d(q, kernel_size, …)`, for `dims` 1, 2 or 3."""
        kernel = _each(kernel_size, dims)
        # torch's functions take an empty tuple for "no stride" as well
        strides = kernel if stride is None or stride in ((), []) else _each(stride, dims)
        return cls(kernel, strides, _each(padding, dims), _each(dilation, dims), bool(ceil_mode))

    @property
    def dims(self) -> int:
        return len(self.kernel)

    def pooled(self, q: Float[Tensor, "n *shape"]) -> tuple[Float[Tensor, "n *out"], Int64[Tensor, "n *out"]]:
        arguments = (self.kernel, self.stride, self.padding, self.dilation, self.ceil_mode)
        return _POOL[self.dims](q, *arguments, return_indices=True)

    def pooled_size(self, size: tuple[int, ...]) -> tuple[int, ...]:
        each = zip(size, self.kernel, self.stride, self.padding, self.dilation, strict=True)
        return tuple(self._count(*along) for along in each)

    def _count(self, size: int, kernel: int, stride: int, padding: int, dilation: int) -> int:
        reach = size + 2 * padding - dilation * (kernel - 1) - 1
        if not self.ceil_mode:
            return reach // stride + 1
        count = -(-reach // stride) + 1
        # the last window must begin within the input or its padding on the left
        return count - 1 if (count - 1) * stride >= size + padding else count

    def windows(self, size: tuple[int, ...], out: tuple[int, ...], device: torch.device) -> list[Windows]:
        each = zip(out, self.kernel, self.stride, self.padding, self.dilation, strict=True)
        return [
            Windows(torch.arange(count, device=device) * stride - padding, dilation, kernel)
            for count, kernel, stride, padding, dilation in each
        ]

    def __str__(self) -> str:
        return "max-pool " + "×".join(map(str, self.kernel))


@dataclass(frozen=True)
class AdaptiveChoice(Pooling):
    """adaptive_max_pool1d, 2d and 3d. Windows differ in size; all have as many slots as the largest.

    `output` is the size of each pooled dimension afterwards, None where it stays.
    """

    output: tuple[int | None, ...]

    @classmethod
    def of(cls, dims: int, output_size: int | Sequence[int | None] | None) -> "AdaptiveChoice":
        """The kind of `F.adaptive_max_pool2d(q, output_size)`, for `dims` 1, 2 or 3."""
        return cls(_each(output_size, dims))

    @property
    def dims(self) -> int:
        return len(self.output)

    def pooled(self, q: Float[Tensor, "n *shape"]) -> tuple[Float[Tensor, "n *out"], Int64[Tensor, "n *out"]]:
        size = self.pooled_size(tuple(q.shape[-self.dims :]))
        return _ADAPTIVE_POOL[self.dims](q, size, return_indices=True)

    def pooled_size(self, size: tuple[int, ...]) -> tuple[int, ...]:
        each = zip(size, self.output, strict=True)
        return tuple(extent if count is None else count for extent, count in each)

    def windows(self, size: tuple[int, ...], out: tuple[int, ...], device: torch.device) -> list[Windows]:
        windows = []
        for extent, count in zip(size, out, strict=True):
            output = torch.arange(count, device=device)
            first = output * extent // count
            end = ((output + 1) * extent + count - 1) // count
            windows.append(Windows(first, 1, int((end - first).max())))
        return windows

    def __str__(self) -> str:
        return "max-pool to " + "×".join("·" if size is None else str(size) for size in self.output)


def _each(value: int | Sequence | None, dims: int) -> tuple:
    """torch's way with sizes: one number stands for every dimension."""
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    return values * dims if len(values) == 1 else values


def _unravel(flat: Tensor, size: Sequence[int]) -> list[Tensor]:
    """The coordinates along each dimension of a place in an array flattened row by row."""
    coordinates = []
    for extent in reversed(size):
        coordinates.append(flat % extent)
        flat = flat // extent
    return coordinates[::-1]


def _along(first: Tensor, axis: int, dims: int) -> Tensor:
    """A vector laid along one of the last `dims` dimensions."""
    return first.reshape(-1, *(1 for _ in range(dims - axis - 1)))
