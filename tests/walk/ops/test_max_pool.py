"""Max-pooling: a path from every entry of the window, of which the largest has an open gate."""

import pytest
import torch
from torch import nn

from oracle.edges import assert_edges_are_the_module
from penstock import list_paths, npf, npv


@pytest.mark.parametrize(
    ("pool", "shape"),
    [
        (nn.MaxPool1d(2), (2, 5)),
        (nn.MaxPool1d(3, stride=1, padding=1), (2, 4)),
        (nn.MaxPool1d(2, dilation=2, ceil_mode=True), (1, 6)),
        (nn.MaxPool2d(2), (2, 4, 4)),
        (nn.MaxPool2d((3, 2), stride=(2, 1), padding=(1, 1), ceil_mode=True), (1, 4, 3)),
        (nn.MaxPool3d(2, stride=1), (1, 2, 3, 2)),
        (nn.AdaptiveMaxPool1d(3), (2, 5)),
        (nn.AdaptiveMaxPool2d((2, 3)), (2, 3, 4)),
        (nn.AdaptiveMaxPool2d((None, 1)), (1, 3, 4)),
        (nn.AdaptiveMaxPool3d(1), (1, 2, 2, 2)),
    ],
    ids=str,
)
def test_edges_and_gates_are_the_pooling(pool, shape):
    assert_edges_are_the_module(
        nn.Sequential(pool, nn.Flatten()), torch.randn(4, *shape, dtype=torch.float64)
    )


def test_features_without_channels_are_pooled_too():
    class Bare(nn.Module):
        def forward(self, x):
            return nn.functional.max_pool1d(x, 2)

    assert_edges_are_the_module(Bare(), torch.randn(3, 6, dtype=torch.float64))


def test_of_equals_the_one_that_torch_chose_is_open():
    model = nn.Sequential(nn.MaxPool1d(3), nn.Flatten())
    assert npf(model, torch.tensor([[[2.0, 2.0, 1.0]], [[1.0, 2.0, 2.0]]])).tolist() == [[2, 0, 0], [0, 2, 0]]


def test_a_window_makes_a_node_without_a_weight():
    paths = list_paths(nn.Sequential(nn.MaxPool1d(3), nn.Flatten()), input_shape=(1, 3))
    assert [tuple(path) for path in paths] == [(0, 0), (1, 0), (2, 0)]
    assert npv(nn.Sequential(nn.MaxPool1d(3), nn.Flatten()), input_shape=(1, 3)).tolist() == [1, 1, 1]


def test_padding_is_no_path():
    assert len(list_paths(nn.Sequential(nn.MaxPool1d(3, padding=1), nn.Flatten()), input_shape=(1, 2))) == 2
