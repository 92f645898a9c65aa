"""A signal passed through gates that stay packed: a word of 64 gates is read once, and nothing unpacked.

It costs what a ReLU costs: the signal is read and written once.
"""

from functools import partial
from typing import Any, no_type_check

import numpy as np
from numpy.typing import NDArray

from penstock.compiled.keeping import cached
from penstock.compiled.strips import in_strips

__all__ = ["mask_packed"]

_WORD = 64
# Words of one strip: some ten microseconds of work.
_STRIP = 1 << 13


def mask_packed(
    q: NDArray[Any], words: NDArray[np.int64], shut: float, out: NDArray[Any], threads: int
) -> None:
    """Writes q into `out` where its gate is open, and `shut` times q elsewhere; all rows × gates, and whole
    in memory.
    """
    rows, across = words.shape
    strip = partial(_strip, q, words.reshape(-1), q.dtype.type(shut), out, across, _STRIP)
    in_strips(strip, range(0, rows * across, _STRIP), threads)


@cached
@no_type_check
def _strip(q, words, shut, out, across, length, start):
    zero = q.dtype.type(0)
    leaks = shut != zero
    for place in range(start, min(start + length, len(words))):
        row, first = place // across, place % across * _WORD
        word = words[place]
        source, target = q[row, first : first + _WORD], out[row, first : first + _WORD]
        if len(source) == _WORD:
            # a constant number of turns, which LLVM makes vector instructions of
            for bit in range(_WORD):
                value = source[bit]
                # a shut gate lets no infinity through as NaN
                target[bit] = value if (word >> bit) & 1 else shut * value if leaks else zero
        else:
            for bit in range(len(source)):
                value = source[bit]
                target[bit] = value if (word >> bit) & 1 else shut * value if leaks else zero
