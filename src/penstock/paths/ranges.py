"""Many ranges of numbers at once."""

import numpy as np
from jaxtyping import Int64

__all__ = ["segments"]


def segments(
    start: Int64[np.ndarray, " ranges"], stop: Int64[np.ndarray, " ranges"]
) -> tuple[Int64[np.ndarray, " all"], Int64[np.ndarray, " all"]]:
    """Of the numbers in `range(start[i], stop[i])`, range after range: which range each is from, and the
    numbers.

    >>> segments(np.array([5, 0]), np.array([7, 3]))
    (array([0, 0, 1, 1, 1]), array([5, 6, 0, 1, 2]))
    """
    length = stop - start
    which = np.repeat(np.arange(len(start)), length)
    before = np.cumsum(length) - length
    return which, np.arange(len(which)) + (start - before)[which]
