"""Data sets by name."""

from collections.abc import Callable
from pathlib import Path

import torch

from penstock.errors import UnknownName
from penstock.lab.data.binary import two_classes
from penstock.lab.data.cifar import CIFAR_CLASSES, read_records
from penstock.lab.data.dataset import DataSet
from penstock.lab.data.embedded import digits
from penstock.lab.data.finding import contents, lies_there
from penstock.lab.data.idx import read_idx
from penstock.lab.data.source import Source
from penstock.lab.data.sources import CIFAR_10, FASHION_MNIST, MNIST, TEST, TRAIN
from penstock.lab.runs.places import data_folder
from penstock.training.examples import Examples

__all__ = ["NAMES", "is_here", "load_data"]

FASHION_CLASSES = (
    "T-shirt/top",
    "trouser",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle boot",
)
SOURCES = {
    "mnist": MNIST,
    "binary-mnist": MNIST,
    "fashion-mnist": FASHION_MNIST,
    "cifar-10": CIFAR_10,
}


def load_data(
    name: str = "digits", folder: Path | None = None, *, dtype: torch.dtype = torch.float32
) -> DataSet:
    """A data set by its name: `digits` (comes with scikit-learn), `mnist`, `binary-mnist` (4 against 7 with
    targets -1 and 1), `fashion-mnist`, `cifar-10`.

    Files are looked for in `folder` (a claim's `run.data`; else `PENSTOCK_DATA`, else a cache folder) and
    downloaded there where they are not. Pixels are numbers in [0, 1] (N Section 6.1); with
    `dtype=torch.uint8` they stay bytes, a quarter of the memory, until `data.to(dtype=torch.float32)`.

    >>> data = load_data("digits")
    >>> data.train.x.shape, data.train.y[:5]
    (torch.Size([1442, 1, 8, 8]), tensor([0, 1, 2, 3, 4]))
    """
    if name not in READERS:
        raise UnknownName("data set", name, READERS)
    return READERS[name](data_folder(folder)).to(dtype=dtype)


def is_here(name: str, folder: Path | None = None) -> bool:
    """Whether `load_data(name, folder)` would find its files, and download nothing.

    >>> is_here("digits")
    True
    """
    if name not in READERS:
        raise UnknownName("data set", name, READERS)
    return name not in SOURCES or lies_there(SOURCES[name], data_folder(folder))


def _digits(folder: Path) -> DataSet:
    return digits()


def _mnist(folder: Path) -> DataSet:
    return _idx_set(MNIST, tuple("0123456789"), folder)


def _binary_mnist(folder: Path) -> DataSet:
    return two_classes(_mnist(folder), 4, 7, "binary-mnist")


def _fashion_mnist(folder: Path) -> DataSet:
    return _idx_set(FASHION_MNIST, FASHION_CLASSES, folder)


def _cifar_10(folder: Path) -> DataSet:
    found = contents(CIFAR_10, folder)
    *train, test = (part.name for parcel in CIFAR_10.parcels for part in parcel.parts)
    return DataSet(
        CIFAR_10.name,
        read_records([found[name] for name in train], train),
        read_records([found[test]], [test]),
        CIFAR_CLASSES,
    )


def _idx_set(source: Source, classes: tuple[str, ...], folder: Path) -> DataSet:
    found = contents(source, folder)

    def read(images: str, labels: str) -> Examples:
        x, y = read_idx(found[images], images), read_idx(found[labels], labels)
        return Examples(x[:, None], y.to(torch.int64))  # one channel

    return DataSet(source.name, read(*TRAIN), read(*TEST), classes)


READERS: dict[str, Callable[[Path], DataSet]] = {
    "digits": _digits,
    "mnist": _mnist,
    "binary-mnist": _binary_mnist,
    "fashion-mnist": _fashion_mnist,
    "cifar-10": _cifar_10,
}

NAMES = tuple(READERS)
"""The names that `load_data` knows."""
