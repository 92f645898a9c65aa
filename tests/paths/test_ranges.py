"""Many ranges of numbers at once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from penstock.paths.ranges import segments


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=6))
def test_ranges_one_after_the_other(ranges):
    start = np.array([first for first, _ in ranges], dtype=np.int64)
    stop = np.array([first + length for first, length in ranges], dtype=np.int64)
    which, number = segments(start, stop)
    expected = [(k, n) for k in range(len(ranges)) for n in range(start[k], stop[k])]
    assert list(zip(which.tolist(), number.tolist(), strict=True)) == expected
