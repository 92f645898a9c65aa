"""Full float32 precision: two ways of computing one thing agree where both compute in the dtype they say."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

__all__ = ["full_precision"]


@contextlib.contextmanager
def full_precision(device: torch.device) -> Iterator[None]:
    """No autocast inside, and no TF32 or bfloat16 in products of float32; the settings are left as found."""
    changed = [family for family in (_products(), _convolutions()) if not family.is_full()]
    try:
        for family in changed:
            family.make_full()
        with torch.autocast(device.type, enabled=False):
            yield
    finally:
        for family in changed:
            family.restore()


@dataclass
class _Family:
    """Settings that torch keeps twice: one of the older kind for all, and newer ones for each.

    torch raises where the older one is read and the newer ones contradict it, and torch.export reads it, on
    any device; so they are set together. What cannot be read, as only newer ones were set, is not restored.
    """

    get: Callable[[], Any]
    set: Callable[[Any], None]
    full: Any
    newer: list[Any]

    def __post_init__(self) -> None:
        self.found = [setting.fp32_precision for setting in self.newer]
        self.older: Any = None
        with contextlib.suppress(RuntimeError):
            self.older = self.get()

    def is_full(self) -> bool:
        return self.older == self.full and set(self.found) <= {"none", "ieee"}

    def make_full(self) -> None:
        self.set(self.full)
        for setting in self.newer:
            setting.fp32_precision = "ieee"

    def restore(self) -> None:
        if self.older is not None:
            self.set(self.older)
        for setting, precision in zip(self.newer, self.found, strict=True):
            setting.fp32_precision = precision


def _products() -> _Family:
    backends: Any = torch.backends
    newer = [backends.cuda.matmul, backends.mkldnn.matmul]
    return _Family(torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "highest", newer)


def _convolutions() -> _Family:
    cudnn: Any = torch.backends.cudnn

    def allow(tf32: bool) -> None:
        cudnn.allow_tf32 = tf32

    return _Family(lambda: cudnn.allow_tf32, allow, False, [cudnn.conv, cudnn.rnn])
