"""Compiling once for all runs: Numba's cache where its folder can be written, else anew in every process."""

from collections.abc import Callable
from typing import Any

from numba import njit

__all__ = ["cached"]


class cached:
    """Compiles a function that holds no lock while it runs, and keeps the result on disk if that is possible.

    Numba refuses when no cache folder can be written, and passes on what goes wrong while writing (a full
    disk). Neither is a reason not to count.
    """

    def __init__(self, function: Callable[..., None]):
        self.function = function
        try:
            self._compiled: Any = njit(nogil=True, cache=True)(function)
        except RuntimeError:
            self._compiled = njit(nogil=True)(function)

    def __call__(self, *arguments: Any) -> None:
        try:
            self._compiled(*arguments)
        except OSError:
            self._compiled = njit(nogil=True)(self.function)
            self._compiled(*arguments)
