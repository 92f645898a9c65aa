"""Means and sums over whole dimensions."""

import pytest
import torch
from torch import Tensor, nn

from oracle.edges import assert_edges_are_the_module
from penstock import list_paths


class Reduced(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)


@pytest.mark.parametrize(
    "function",
    {
        "mean over positions": lambda x: x.mean((2, 3)),
        "mean over the last, kept": lambda x: x.mean(-1, keepdim=True).flatten(1),
        "mean over channels": lambda x: x.mean(1).flatten(1),
        "sum over positions": lambda x: x.sum((-1, -2)),
        "sum over all": lambda x: x.sum((1, 2, 3), keepdim=True).flatten(1),
        "mean of a stack": lambda x: torch.stack([x, x.relu()]).mean(0).flatten(1),
    }.items(),
    ids=lambda item: item[0],
)
def test_edges_are_the_reduction(function):
    assert_edges_are_the_module(Reduced(function[1]), torch.randn(2, 2, 3, 2, dtype=torch.float64))


def test_a_mean_is_the_pooling_that_it_stands_for():
    x = (2, 3, 3)
    written = list_paths(Reduced(lambda x: x.mean((2, 3))), input_shape=x, output=1)
    pooled = list_paths(nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()), input_shape=x, output=1)
    assert list(written) == list(pooled)
    assert [path.weights for path in written] == [path.weights for path in pooled]


def test_a_sum_is_a_node_without_a_weight():
    (first, *_) = list_paths(Reduced(lambda x: x.sum(2)), input_shape=(2, 3))
    assert first == (0, 0)
    assert first.weights == ()
