"""CIFAR-10's binary format: one record an image, its label in one byte, then 1,024 bytes each of red, green
and blue, row by row."""

from collections.abc import Sequence

import numpy as np
import torch

from penstock.errors import PenstockError
from penstock.training.examples import Examples

__all__ = ["CIFAR_CLASSES", "read_records"]

CIFAR_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
SHAPE = (3, 32, 32)
RECORD = 1 + 3 * 32 * 32


def read_records(contents: Sequence[bytes], names: Sequence[str]) -> Examples:
    """The images of these files, one after the other, as bytes; `names` are for the refusal."""
    for content, name in zip(contents, names, strict=True):
        if not content or len(content) % RECORD:
            raise PenstockError(
                f"{name} holds {len(content):,} bytes, which are not records of {RECORD:,}; fetch it again"
            )
    records = np.concatenate([np.frombuffer(content, np.uint8) for content in contents]).reshape(-1, RECORD)
    labels = torch.from_numpy(records[:, 0].astype(np.int64))
    if int(labels.max()) >= len(CIFAR_CLASSES):
        raise PenstockError(
            f"{names[0]} has the label {int(labels.max())}, and CIFAR-10 has ten classes; fetch it again"
        )
    images = np.ascontiguousarray(records[:, 1:]).reshape(-1, *SHAPE)
    return Examples(torch.from_numpy(images), labels)
