"""The gates of a ReLU packed in one pass: q is read once, and what is written is a 32nd of it.

Plain torch makes a tensor of bools and one of words on the way, which costs more than all of this.
"""

from functools import partial
from typing import Any, no_type_check

import numpy as np
from numpy.typing import NDArray

from penstock.compiled.keeping import cached
from penstock.compiled.strips import in_strips

__all__ = ["pack_between"]

_WORD = 64
# Words of one strip: some microseconds of work.
_STRIP = 1 << 14


def pack_between(q: NDArray[Any], most: float | int, words: NDArray[np.int64], threads: int) -> None:
    """Sets bit i of a row of `words` where 0 < q[i] <= most; q is rows × gates, and whole in memory."""
    rows, across = words.shape
    pack = partial(_strip, q, most, words.reshape(-1), across, _STRIP)
    in_strips(pack, range(0, rows * across, _STRIP), threads)


@cached
@no_type_check
def _strip(q, most, words, across, length, start):
    for place in range(start, min(start + length, len(words))):
        row, first = place // across, place % across * _WORD
        part = q[row, first : first + _WORD]
        word = np.int64(0)
        if len(part) == _WORD:
            # a constant number of turns, which LLVM makes vector instructions of
            for bit in range(_WORD):
                word |= np.int64((part[bit] > 0) & (part[bit] <= most)) << bit
        else:
            for bit in range(len(part)):
                word |= np.int64((part[bit] > 0) & (part[bit] <= most)) << bit
        words[place] = word
