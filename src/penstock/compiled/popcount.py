"""Gates shared by every pair of inputs, counted from packed words: AND, then the processor's count of bits.

Two inputs share popcount(a AND b) gates. One input's word meets the same word of many others at once: these
lie side by side in a transposed copy, so that LLVM makes vector instructions of the inner loop (`vpopcntq`
where the processor has it). Four words go through together, for one load and one store of the counts.

The result is made tile by tile, 32 inputs by 512. All layers of a tile are counted and multiplied while it
lies in the second-level cache; only then is it written out. Of one set of inputs with itself the upper half
is counted, and written twice. Threads take strips of 128 rows as they become free.

Numba reads the source of these functions, so no checker of types may be wrapped around them:
`@no_type_check`.
"""

from collections.abc import Sequence
from functools import partial
from typing import no_type_check

import numpy as np
from numba import njit
from numba.extending import intrinsic
from numpy.typing import NDArray

from penstock.compiled.keeping import cached
from penstock.compiled.strips import in_strips

__all__ = ["multiply_counts"]

_TILE_ROWS, _TILE_COLUMNS = 32, 512
_STRIP = 128

Words = NDArray[np.int64]


def multiply_counts(
    layers: Sequence[Words], others: Sequence[Words] | None, out: NDArray[np.generic], threads: int
) -> None:
    """Writes into `out`, for each pair of a row of `layers` and one of `others`, the product over layers of
    the gates that they share. Without `others` the rows meet each other. Every layer is rows × words.
    """
    ends = np.cumsum([0, *(words.shape[1] for words in layers)])
    rows = np.ascontiguousarray(np.concatenate(layers, axis=1))
    columns = np.ascontiguousarray((rows if others is None else np.concatenate(others, axis=1)).T)
    count = partial(_strip, rows, columns, ends, others is None, out)
    in_strips(count, range(0, len(rows), _STRIP), threads)


@intrinsic
@no_type_check
def _popcount(_typing, word):
    def code(_context, builder, _signature, arguments):
        return builder.ctpop(arguments[0])

    return word(word), code


@njit(nogil=True)
@no_type_check
def _add_four(counts, word, columns, k, start):
    stop = start + len(counts)
    a, b, c, d = word[k], word[k + 1], word[k + 2], word[k + 3]
    # a view for each, so that LLVM sees every one contiguous
    for_a, for_b = columns[k, start:stop], columns[k + 1, start:stop]
    for_c, for_d = columns[k + 2, start:stop], columns[k + 3, start:stop]
    for j in range(len(counts)):
        low = _popcount(a & for_a[j]) + _popcount(b & for_b[j])
        counts[j] += low + _popcount(c & for_c[j]) + _popcount(d & for_d[j])


@njit(nogil=True)
@no_type_check
def _add_one(counts, word, columns, k, start):
    a, for_a = word[k], columns[k, start : start + len(counts)]
    for j in range(len(counts)):
        counts[j] += _popcount(a & for_a[j])


@njit(nogil=True)
@no_type_check
def _count_tile(counts, rows, columns, top, height, left, width, first, last):
    """One layer's counts: its words are `first` to `last`; rows begin at `top` and columns at `left`."""
    counts[:] = 0
    in_fours = first + (last - first) // 4 * 4
    for k in range(first, in_fours, 4):
        for i in range(height):
            _add_four(counts[i, :width], rows[top + i], columns, k, left)
    for k in range(in_fours, last):
        for i in range(height):
            _add_one(counts[i, :width], rows[top + i], columns, k, left)


@njit(nogil=True)
@no_type_check
def _write_tile(tile, out, top, height, left, width, symmetric):
    for i in range(height):
        target, source = out[top + i, left : left + width], tile[i, :width]
        for j in range(width):
            target[j] = source[j]
    if symmetric:
        for j in range(width):
            target = out[left + j, top : top + height]
            for i in range(height):
                target[i] = tile[i, j]


@cached
@no_type_check
def _strip(rows, columns, ends, symmetric, out, start):
    # eight more than a power of two: the rows of a tile must not all fall into the same lines of the cache
    counts = np.empty((_TILE_ROWS, _TILE_COLUMNS + 8), np.int64)
    product = np.empty((_TILE_ROWS, _TILE_COLUMNS + 8), out.dtype)
    stop, across = min(start + _STRIP, len(rows)), columns.shape[1]
    for top in range(start, stop, _TILE_ROWS):
        height = min(_TILE_ROWS, stop - top)
        for left in range(top if symmetric else 0, across, _TILE_COLUMNS):
            width = min(_TILE_COLUMNS, across - left)
            product[:] = 1
            for layer in range(len(ends) - 1):
                _count_tile(counts, rows, columns, top, height, left, width, ends[layer], ends[layer + 1])
                for i in range(height):
                    target, factor = product[i, :width], counts[i, :width]
                    for j in range(width):
                        target[j] *= factor[j]
            _write_tile(product, out, top, height, left, width, symmetric)
