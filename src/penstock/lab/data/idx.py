"""The IDX format of MNIST and Fashion-MNIST: two zero bytes, a kind, the number of dimensions, each dimension
in four bytes, the highest first, and then the numbers."""

import math

import numpy as np
import torch
from jaxtyping import UInt8
from torch import Tensor

from penstock.errors import PenstockError

__all__ = ["read_idx"]

BYTES = 0x08


def read_idx(content: bytes, name: str) -> UInt8[Tensor, "..."]:
    """The array of bytes that an IDX file holds; `name` is for the refusal.

    >>> read_idx(bytes([0, 0, 8, 1, 0, 0, 0, 3, 4, 7, 9]), "labels")
    tensor([4, 7, 9], dtype=torch.uint8)
    """
    if len(content) < 4 or content[:3] != bytes([0, 0, BYTES]):
        raise PenstockError(
            f"{name} is no IDX file of bytes: it begins with {content[:4].hex(' ') or 'nothing'} and not "
            "with 00 00 08; fetch it again"
        )
    dimensions = content[3]
    start = 4 + 4 * dimensions
    if dimensions == 0 or len(content) < start:
        raise PenstockError(f"{name} ends before its dimensions do; fetch it again")
    shape = [int(size) for size in np.frombuffer(content, ">u4", dimensions, offset=4)]
    if len(content) != start + math.prod(shape):
        raise PenstockError(
            f"{name} says it holds {' × '.join(map(str, shape))} bytes, and {len(content) - start:,} follow; "
            "fetch it again"
        )
    # copied: torch wants memory that it may write to
    return torch.from_numpy(np.frombuffer(content, np.uint8, offset=start).reshape(shape).copy())
