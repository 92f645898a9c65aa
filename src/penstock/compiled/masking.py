"""A signal passed through gates that stay packed: gates are read as they lie, and nothing unpacked.

It costs about what a ReLU costs: the signal is read and written once. One thread does it, since torch's own
threads are still spinning after the operation before, and two more would wait for them.
"""

from typing import Any, no_type_check

import numpy as np
from numpy.typing import NDArray

from penstock.compiled.keeping import cached

__all__ = ["mask_packed"]

_WORD = 64


def mask_packed(q: NDArray[Any], words: NDArray[np.int64], shut: float, out: NDArray[Any]) -> None:
    """Writes q into `out` where its gate is open, and `shut` times q elsewhere; all rows × gates, and whole
    in memory.
    """
    if q.shape[1] % _WORD == 0 and shut == 0:
        _whole(q.reshape(-1), words.reshape(-1).view(np.uint8), out.reshape(-1))
    else:
        _any(q, words, q.dtype.type(shut), out)


@cached
@no_type_check
def _whole(q, octets, out):
    zero = q.dtype.type(0)
    for place in range(len(octets)):
        octet, first = octets[place], place * 8
        # a constant number of turns, and as many as a vector has places: LLVM makes one select of them
        for bit in range(8):
            value = q[first + bit]
            out[first + bit] = value if (octet >> np.uint8(bit)) & np.uint8(1) else zero


@cached
@no_type_check
def _any(q, words, shut, out):
    zero = q.dtype.type(0)
    leaks = shut != zero
    for row in range(len(q)):
        for gate in range(q.shape[1]):
            value = q[row, gate]
            # a shut gate lets no infinity through as NaN
            closed = shut * value if leaks else zero
            out[row, gate] = value if (words[row, gate // _WORD] >> (gate % _WORD)) & 1 else closed
