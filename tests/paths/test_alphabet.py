"""The weights that paths are strings of, each with a number."""

import numpy as np
import pytest
import torch

from penstock.paths.alphabet import Alphabet
from penstock.walk.site import Weight, numbers


def _named(name, *shape):
    return Weight(name, torch.randn(*shape), numbers(shape))


def test_entries_of_a_tensor_are_numbered_one_after_the_other():
    alphabet = Alphabet()
    one, two = _named("one", 2, 3), _named("two", 4)
    assert alphabet.number(one, np.array([0, 5])).tolist() == [0, 5]
    assert alphabet.number(two, np.array([3, 0])).tolist() == [9, 6]
    assert len(alphabet) == 10
    assert (str(alphabet[5]), str(alphabet[6])) == ("one[1, 2]", "two[0]")
    assert torch.equal(alphabet.values(torch.zeros(1)), torch.cat([one.values.flatten(), two.values]))


def test_the_same_tensor_has_the_same_numbers_wherever_it_is_met():
    alphabet, weight = Alphabet(), _named("w", 3)
    assert np.array_equal(alphabet.number(weight, np.arange(3)), alphabet.number(weight, np.arange(3)))
    again = Weight("w", weight.values.clone(), weight.number)
    assert np.array_equal(alphabet.number(weight, np.arange(3)), alphabet.number(again, np.arange(3)))


def test_two_tensors_of_one_name_have_numbers_of_their_own():
    alphabet = Alphabet()
    assert alphabet.number(_named("scale", 2), np.arange(2)).tolist() == [0, 1]
    assert alphabet.number(_named("scale", 2), np.arange(2)).tolist() == [2, 3]


def test_constants_are_told_apart_by_their_value():
    alphabet = Alphabet()
    thirds = Weight.constants(torch.tensor([1 / 3, 0.5, 1 / 3], dtype=torch.float64))
    first, half, third = alphabet.number(thirds, np.arange(3)).tolist()
    assert first == third != half
    assert alphabet.number(Weight.constant(0.5), np.array([0])).tolist() == [half]
    assert alphabet[half].constant == 0.5
    assert (alphabet[half].name, alphabet[half].index) == ("", ())


def test_there_is_no_weight_before_the_first_or_after_the_last():
    alphabet = Alphabet()
    assert alphabet.values(torch.zeros(1)).shape == (0,)
    alphabet.number(_named("w", 3), np.arange(3))
    for number in (-1, 3):
        with pytest.raises(IndexError):
            alphabet[number]
