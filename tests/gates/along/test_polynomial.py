"""A few values of a polynomial say where it is above zero."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from penstock.gates.along import polynomial

counts = st.integers(2, 6)
lengths = st.integers(2, 1500)


def polynomials(seed: int, degree: int, m: int = 20) -> np.ndarray:
    """Random ones with roots near the stretch from 0 to 1, some of them close pairs."""
    rng = np.random.default_rng(seed)
    roots = rng.uniform(-0.5, 1.5, (m, degree))
    roots[::2, -1] = roots[::2, 0] + 0.01
    return np.stack([rng.normal() * np.poly(row) for row in roots], axis=1)


@given(lengths, counts)
def test_nodes_are_distinct_places_with_both_ends(length: int, count: int):
    places = polynomial.nodes(length, count)
    assert places[0] == 0
    assert places[-1] == length
    assert list(places) == sorted(set(places))
    assert len(places) in (count, length + 1)


@given(lengths.filter(lambda length: length > 40), counts, st.integers(0, 10**6))
def test_changes_are_those_that_looking_everywhere_finds(length: int, count: int, seed: int):
    of_highest_degree = polynomials(seed, count - 1)
    everywhere = np.polyval(of_highest_degree, np.arange(length + 1)[:, None] / length)
    values = torch.from_numpy(everywhere[list(polynomial.nodes(length, count))])
    expected = np.flatnonzero(((everywhere[1:] > 0) != (everywhere[:-1] > 0)).any(1))
    assert polynomial.changes(values, length).tolist() == expected.tolist()


@given(lengths.filter(lambda length: length > 40), counts, st.integers(0, 10**6))
def test_what_is_not_doubtful_does_not_change(length: int, count: int, seed: int):
    coefficients = polynomials(seed, count - 1)
    everywhere = np.polyval(coefficients, np.arange(length + 1)[:, None] / length)
    values = torch.from_numpy(everywhere[list(polynomial.nodes(length, count))])
    doubtful = polynomial.doubtful(values[None], torch.tensor([polynomial.margin(length, count)]))[0].numpy()
    changing = ((everywhere > 0) != (everywhere[:1] > 0)).any(0)
    assert not (changing & ~doubtful).any()


def test_far_from_zero_nothing_is_doubtful():
    values = 100 + torch.from_numpy(
        np.polyval(polynomials(0, 3), np.array(polynomial.nodes(1024, 4))[:, None] / 1024)
    )
    assert not polynomial.doubtful(values[None], torch.tensor([polynomial.margin(1024, 4)])).any()
