"""N Table 2: its rows and columns, what it prints, and the settings of a run that trains some of its rows."""

from dataclasses import dataclass
from typing import Literal

from penstock.errors import PenstockError, UnknownName
from penstock.lab.claims.least import check_least, check_positive

__all__ = ["LAPTOP", "LEARNT", "PAPER", "RANDOM", "REGIMES", "ROWS", "SMOKE", "Row", "Settings"]

RANDOM: tuple[str, ...] = ("frnpf-ii", "frnpf-di")
"""The columns whose gates are random and fixed."""
LEARNT: tuple[str, ...] = ("dlnpf", "flnpf", "relu")
"""The columns whose gates are learnt, now or before."""
REGIMES: tuple[str, ...] = (*RANDOM, *LEARNT)
"""The columns, in the paper's order."""


@dataclass(frozen=True)
class Row:
    """One row: a network, its optimizer, and the test accuracies in percent that the paper prints for it.

    Rates and numbers of epochs are the paper's where it gives them, else the authors' code's.
    """

    title: str
    architecture: Literal["fc", "vconv", "gconv"]
    optimizer: Literal["adam", "sgd"]
    rate: float
    epochs: int
    data: str
    printed: tuple[float, ...]
    """The means over five runs, in the order of `REGIMES`."""
    spread: tuple[float, ...]
    """Their standard deviations."""


ROWS: dict[str, Row] = {
    "fc-sgd": Row(
        "FC, SGD", "fc", "sgd", 1e-2, 300, "mnist",
        (95.85, 95.85, 97.86, 97.10, 97.85), (0.10, 0.17, 0.11, 0.09, 0.09),
    ),
    "fc-adam": Row(
        "FC, Adam", "fc", "adam", 3e-4, 100, "mnist",
        (96.02, 96.09, 98.22, 97.82, 98.14), (0.13, 0.12, 0.05, 0.02, 0.07),
    ),
    "vconv-sgd": Row(
        "VCONV, SGD", "vconv", "sgd", 1e-2, 80, "cifar-10",
        (58.92, 58.83, 63.21, 63.06, 67.02), (0.62, 0.27, 0.07, 0.73, 0.43),
    ),
    "vconv-adam": Row(
        "VCONV, Adam", "vconv", "adam", 3e-4, 80, "cifar-10",
        (64.86, 64.68, 69.45, 71.40, 72.43), (1.18, 0.84, 0.76, 0.47, 0.54),
    ),
    "gconv-sgd": Row(
        "GCONV, SGD", "gconv", "sgd", 1e-1, 100, "cifar-10",
        (67.36, 66.86, 74.57, 78.52, 78.90), (0.56, 0.44, 0.43, 0.39, 0.37),
    ),
    "gconv-adam": Row(
        "GCONV, Adam", "gconv", "adam", 3e-4, 200, "cifar-10",
        (67.09, 67.08, 77.12, 79.68, 80.32), (0.58, 0.27, 0.19, 0.32, 0.35),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    rows: tuple[str, ...] = ("fc-adam",)
    """Rows of Table 2: fc, vconv or gconv, and sgd or adam, as in fc-adam."""
    data: str | None = None
    """The data set; without one, each row's own: MNIST for FC, CIFAR-10 for the others."""
    epochs: int | None = None
    """Epochs of every training; without it, each row's own, as many as the paper or its code has."""
    rate: float | None = None
    """The optimizer's step; without it, each row's own."""
    batch: int = 32
    """Examples in a step."""
    width: int = 128
    """Units in each of the five hidden layers of FC."""
    beta: float = 4.0
    """How steep the soft gates of DLNPF are; 8 in the paper's first version."""
    epsilon: float = 0.1
    """By how much the soft gates of DLNPF pass 1."""
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    """One run of every regime each: its weights, and its order of the data."""

    def __post_init__(self):
        # a spread and an interval take three runs or more
        check_least(self, rows=1, batch=1, width=1, seeds=3)
        check_positive(self, "beta")
        for name in self.rows:
            if name not in ROWS:
                raise UnknownName("row of Table 2", name, ROWS)
        for name in ("epochs", "rate"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise PenstockError(f"the setting {name} is {value!r}, which trains nothing; give more")
        for name in ("rows", "seeds"):
            if len(set(getattr(self, name))) < len(getattr(self, name)):
                raise PenstockError(f"the setting {name} names one thing twice; give each once")


# The claims that read one table's trainings have these in common, and so find them done.
SMOKE = Settings(data="digits", epochs=10, rate=1e-3, width=64)
LAPTOP = Settings(epochs=20)
PAPER = Settings()
