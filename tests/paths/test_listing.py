"""The list of all paths: its order is that of N Figure 1."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from networks.convolutional import Concatenating, SmallResNet, circular, small_images
from networks.fully_connected import Skipping, fully_connected
from oracle.paths import chain
from penstock import PenstockError, count_paths, list_paths
from penstock.paths.limit import set_memory_limit


def test_the_eighteen_paths_of_n_figure_1():
    """p1 … p9 begin at x(1), p10 … p18 at x(2), and p_3 and p_12 pass the first unit and then the third."""
    paths = list_paths(fully_connected(2, 3, 3, 1))
    assert list(paths) == list(product(range(2), range(3), range(3), range(1)))
    assert paths[3 - 1] == (0, 0, 2, 0)
    assert paths[12 - 1] == (1, 0, 2, 0)


@settings(max_examples=10)
@given(widths=st.lists(st.integers(1, 4), min_size=2, max_size=5), bias=st.booleans())
def test_nodes_are_those_of_paths_in_loops(widths, bias):
    model = fully_connected(*widths, bias=bias)
    linear = [layer for layer in model if isinstance(layer, nn.Linear)]
    slow = chain(
        [layer.weight for layer in linear],
        [layer.bias for layer in linear] if bias else None,
        torch.zeros(1, widths[0]).double(),
    )
    assert list(list_paths(model)) == [
        tuple(-1 if node is None else node for node in nodes) for nodes in slow.nodes
    ]


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (Skipping(), (3,)),
        (SmallResNet(), (1, 2, 2)),
        (Concatenating(), (1, 3)),
        (small_images(nn.MaxPool2d(2, stride=1, padding=1)), (2, 4, 4)),
        (circular(5, 3, 2), (1, 5)),
    ],
    ids=["skip", "resnet", "concatenation", "images", "circular"],
)
def test_the_order_is_lexicographic_by_layer_and_unit(model, shape):
    paths = list_paths(model, input_shape=shape)
    assert len(paths) == count_paths(model, input_shape=shape)
    places = paths.layer.astype(object) * 10**6 + paths.nodes
    begun_with_bias = paths.nodes[:, 0] == -1
    assert list(begun_with_bias) == sorted(begun_with_bias)
    for these in (places[~begun_with_bias], places[begun_with_bias]):
        rows = [tuple(row) for row in these.tolist()]
        assert rows == sorted(rows)


def test_a_node_for_each_weight_and_pooling_and_the_output_last():
    model = nn.Sequential(nn.Conv1d(1, 2, 2), nn.ReLU(), nn.MaxPool1d(2), nn.Flatten(), nn.Linear(2, 3))
    paths = list_paths(model, input_shape=(1, 3), output=2)
    assert [layer.name for layer in paths[0].layers] == ["x", "0", "2", "4"]
    assert {path[-1] for path in paths} == {2}
    assert str(paths[0].layers[1].shape) == "(2, 2)"


def test_only_paths_to_the_output_that_is_asked_for_are_listed():
    model = nn.Sequential(nn.Conv1d(1, 1, 2, bias=False), nn.Flatten())
    assert list(list_paths(model, input_shape=(1, 4), output=2)) == [(2, 2), (3, 2)]


def test_above_the_limit_it_says_how_many_how_much_and_what_else():
    set_memory_limit("1MiB")
    try:
        with pytest.raises(PenstockError) as refused:
            list_paths(fully_connected(100, 100, 100, 1))
    finally:
        set_memory_limit(None)
    sentence = str(refused.value)
    assert "1,000,000 paths" in sentence
    assert "30.5 MiB, above the limit of 1 MiB" in sentence
    assert "penstock.count_paths" in sentence


@pytest.mark.parametrize("output", [-1, 2])
def test_an_output_that_is_not_there_is_refused(output):
    with pytest.raises(PenstockError, match=f"there is no output {output}: .* 0 to 1"):
        list_paths(fully_connected(2, 3, 2), output=output)


def test_a_million_paths_are_arrays():
    nodes = list_paths(fully_connected(10, 100, 100, 10, 1, dtype=torch.float32)).nodes
    assert nodes.shape == (10**6, 5)
    assert np.array_equal(np.ravel_multi_index(tuple(nodes.T), (10, 100, 100, 10, 1)), np.arange(10**6))
