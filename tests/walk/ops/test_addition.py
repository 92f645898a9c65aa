"""Sums and differences: signals pass on, what is held starts paths, and what is taken away passes a weight of
-1.
"""

import pytest
import torch

from networks.inline import Inline
from oracle.edges import assert_edges_are_the_module
from penstock import count_paths, list_paths


@pytest.mark.parametrize(
    "function",
    {
        "signals": lambda x, w: x + x.relu(),
        "a signal with itself": lambda x, w: x + x,
        "a signal and a parameter": lambda x, w: w[0] + x,
        "a number": lambda x, w: x + 1.5,
        "a factor before the second": lambda x, w: torch.add(x, x.relu(), alpha=0.5),
        "a factor before a parameter": lambda x, w: torch.add(x, w[0], alpha=0.5),
        "broadcast over positions": lambda x, w: (x.reshape(-1, 2, 2) + w[0, :2]).flatten(1),
        "difference of signals": lambda x, w: x - x.relu(),
        "difference with a parameter": lambda x, w: x - w[1],
        "parameter less the signal": lambda x, w: w[1] - x,
        "number less the signal": lambda x, w: 2 - x,
        "less, with a factor": lambda x, w: torch.sub(x, x.relu(), alpha=3),
        "reversed, with a factor": lambda x, w: torch.rsub(x, w[0], alpha=3),
        "negative": lambda x, w: -x,
        "in place": lambda x, w: x.relu().add_(x).sub_(w[0]),
        "sum of a list": lambda x, w: sum([x, x.relu(), w[0]]),
    }.items(),
    ids=lambda item: item[0],
)
def test_edges_are_the_sum(function):
    assert_edges_are_the_module(Inline(function[1]), torch.randn(3, 4, dtype=torch.float64))


def test_a_sum_of_signals_makes_no_nodes():
    paths = list_paths(Inline(lambda x, w: x + x.relu()), input_shape=(4,), output=2)
    assert [tuple(path) for path in paths] == [(2,), (2,)]
    assert [path.weights for path in paths] == [(), ()]


def test_a_number_starts_a_path_and_zero_does_not():
    assert count_paths(Inline(lambda x, w: x + 1.5), input_shape=(4,)) == 2
    assert count_paths(Inline(lambda x, w: x + 0.0), input_shape=(4,)) == 1


def test_what_is_taken_away_passes_a_constant():
    kept, taken = list_paths(Inline(lambda x, w: x.relu() - x), input_shape=(4,))
    assert kept.weights == ()
    assert [letter.constant for letter in taken.weights] == [-1.0]
