"""Full float32 precision: two ways of computing one thing agree where both compute in the dtype they say."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

__all__ = ["full_precision"]

_FULL = ("none", "ieee")


@contextmanager
def full_precision(device: torch.device) -> Iterator[None]:
    """No autocast inside, and no TF32 or bfloat16 in products of float32; the settings are left as found."""
    backends: Any = torch.backends
    products = {
        "cuda": (backends.cuda.matmul, backends.cudnn.conv),
        "cpu": (backends.mkldnn.matmul, backends.mkldnn.conv),
    }
    changed = [
        (product, product.fp32_precision)
        for product in products.get(device.type, ())
        if product.fp32_precision not in _FULL
    ]
    try:
        for product, _ in changed:
            product.fp32_precision = "ieee"
        with torch.autocast(device.type, enabled=False):
            yield
    finally:
        for product, precision in changed:
            product.fp32_precision = precision
