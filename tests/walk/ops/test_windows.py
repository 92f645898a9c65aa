"""Which inputs the windows of a convolution see."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from penstock.walk.ops.windows import taps

dimension = st.tuples(
    st.integers(1, 5),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(0, 2),
    st.integers(1, 2),
)


@given(st.lists(dimension, min_size=1, max_size=3))
def test_output_o_sees_input_o_stride_minus_padding_plus_tap_dilation(dimensions):
    size, out, kernel, stride, padding, dilation = zip(*dimensions, strict=True)
    expected = []
    for o in product(*map(range, out)):
        for k in product(*map(range, kernel)):
            i = [a * s - p + b * d for a, s, p, b, d in zip(o, stride, padding, k, dilation, strict=True)]
            if all(0 <= at < extent for at, extent in zip(i, size, strict=True)):
                expected.append((_number(o, out), _number(k, kernel), _number(i, size)))
    found = taps(size, out, kernel, stride=stride, padding=padding, dilation=dilation)
    assert sorted(zip(*(part.tolist() for part in found), strict=True)) == sorted(expected)


def _number(place, shape):
    number = 0
    for at, extent in zip(place, shape, strict=True):
        number = number * extent + at
    return number
