"""One path: its nodes, its layers, its string of weights."""

import pickle
from copy import deepcopy

import pytest
from torch import nn

from networks.convolutional import small_images
from networks.fully_connected import fully_connected
from penstock import list_paths


def test_a_path_is_the_tuple_of_its_nodes():
    (path, *_) = list_paths(fully_connected(2, 3, 1))
    assert isinstance(path, tuple)
    assert path == (0, 0, 0)
    assert hash(path) == hash((0, 0, 0))


def test_it_prints_its_layers_and_units():
    model = small_images(nn.MaxPool2d(2), width=1)
    paths = list_paths(model, input_shape=(2, 4, 4))
    assert repr(paths[0]) == "x[0, 0, 0] → 0[0, 0, 0] → 1[0, 0, 0] → 3[0, 0, 0] → 4[0, 0, 0] → 7[0]"
    assert repr(paths[-1]) == "1 → 7[0]"


def test_it_names_its_weights():
    model = small_images(nn.AvgPool2d(2), width=1)
    (path, *_) = list_paths(model, input_shape=(2, 4, 4))
    named = [str(weight) for weight in path.weights]
    assert named[1:] == ["1.scale[0]", "0.25", "4.weight[0, 0, 0, 0]", "7.weight[0, 0]"]
    assert named[0].startswith("0.weight[0, 0")


@pytest.mark.parametrize("copied", [deepcopy, lambda path: pickle.loads(pickle.dumps(path))])
def test_copies_keep_what_it_knows(copied):
    (path, *_) = list_paths(fully_connected(2, 3, 1))
    again = copied(path)
    assert again == path
    assert repr(again) == repr(path)
    assert again.weights == path.weights
