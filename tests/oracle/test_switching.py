"""The scan finds flips whose instants are known."""

import numpy as np

from oracle.switching import PLACES, Flip, Net, flips


def chain(*weights: float) -> Net:
    """A chain of single units with these weights and no biases."""
    return Net([np.array([[weight]]) for weight in weights], [np.zeros(1) for _ in weights])


def test_a_weight_that_changes_its_sign_half_way_closes_the_gate_there():
    (flip,) = flips(chain(1.0, 1.0), chain(-1.0, 1.0), np.ones((1, 1)))
    assert flip == Flip(PLACES // 2 - 1, 0, 0, 0, False)  # at one half itself q is zero, and so shut


def test_a_gate_behind_a_gate_that_closes_closes_with_it():
    found = flips(chain(1.0, 1.0, 1.0), chain(-1.0, 1.0, 1.0), np.ones((2, 1)))
    assert [(flip.layer, flip.example, flip.place) for flip in found] == [
        (layer, example, PLACES // 2 - 1) for layer in (0, 1) for example in (0, 1)
    ]


def test_two_weights_that_cross_zero_in_turn_open_nothing_between():
    """w₁ is positive until 1/4, w₂ from 3/4 on: the second layer never opens."""
    assert [flip.layer for flip in flips(chain(1.0, -3.0, 1.0), chain(-3.0, 1.0, 1.0), np.ones((1, 1)))] == [
        0
    ]
