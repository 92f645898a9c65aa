"""Counting by digits, exact against Python's integers."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from networks.convolutional import SmallResNet, small_images
from networks.fully_connected import Skipping, fully_connected
from penstock import list_paths
from penstock.paths.asking import ask
from penstock.paths.tally import carried

digits = st.lists(st.lists(st.integers(0, 2**62), min_size=3, max_size=3), min_size=1, max_size=4)


@given(digits)
def test_carrying_changes_no_number_and_leaves_small_digits(rows):
    result = carried(torch.tensor(rows))
    assert int(result.max()) < 2**31
    assert _numbers(result.tolist()) == _numbers(rows)


def _numbers(rows):
    return [
        sum(digit << (31 * place) for place, digit in enumerate(column)) for column in zip(*rows, strict=True)
    ]


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (fully_connected(2, 3, 3, 1, bias=True), (2,)),
        (Skipping(), (3,)),
        (SmallResNet(), (1, 2, 2)),
        (small_images(nn.MaxPool2d(2)), (2, 4, 4)),
        (nn.Sequential(nn.Linear(2, 2), nn.ReLU6(), nn.Linear(2, 1)), (2,)),
    ],
    ids=["chain", "skip", "resnet", "images", "relu6"],
)
def test_the_longest_path_is_known_before_it_is_listed(model, shape):
    asked = ask(model, shape, 0)
    assert asked.tally.longest == list_paths(model, input_shape=shape).nodes.shape[1]
