"""Random sizes stay where they are asked to, and a case is its seed."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.lab.models.random_sizes import random_integer, random_widths, seeded


@given(st.integers(0, 2**31))
def test_widths_lie_in_their_ranges(seed: int):
    inputs, *hidden, output = random_widths(seeded(seed), inputs=(2, 3), hidden=(4, 6), depth=(2, 5))
    assert 2 <= inputs <= 3
    assert 1 <= len(hidden) <= 4
    assert all(4 <= width <= 6 for width in hidden)
    assert output == 1


def test_both_ends_are_reached():
    generator = seeded(0)
    assert {random_integer(generator, 1, 3) for _ in range(100)} == {1, 2, 3}


@given(
    st.lists(st.integers(0, 10**6), min_size=1, max_size=3),
    st.lists(st.integers(0, 10**6), min_size=1, max_size=3),
)
def test_each_tuple_of_numbers_has_a_generator_of_its_own(one: list[int], other: list[int]):
    assert (seeded(*one).initial_seed() == seeded(*other).initial_seed()) == (one == other)
