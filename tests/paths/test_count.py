"""The number of paths, exact however large."""

from math import prod

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from networks.convolutional import Concatenating, SmallResNet, TiedAutoencoder, circular, small_images
from networks.fully_connected import Skipping, fully_connected
from networks.residual import ResNet18
from oracle.edges import counts_by_edges, graph_and_sites
from penstock import count_paths, list_paths


@settings(max_examples=6)
@given(inputs=st.integers(1, 50), width=st.integers(1, 50), depth=st.integers(1, 6))
def test_a_fully_connected_network_has_d_in_w_to_the_d_minus_1(inputs, width, depth):
    model = fully_connected(inputs, *[width] * (depth - 1), 1)
    assert count_paths(model) == inputs * width ** (depth - 1)


@settings(max_examples=6)
@given(widths=st.lists(st.integers(1, 20), min_size=2, max_size=5))
def test_each_bias_starts_paths_of_its_own(widths):
    """From the bias of layer l, as many as the widths of the layers from l on to the last but one make."""
    from_layer = [prod(widths[layer:-1]) for layer in range(len(widths))]
    assert count_paths(fully_connected(*widths, bias=True)) == sum(from_layer)


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (Skipping(), (3,)),
        (small_images(), (2, 4, 4)),
        (small_images(nn.MaxPool2d(3, padding=1, stride=1)), (2, 4, 4)),
        (small_images(nn.AdaptiveAvgPool2d(3), size=5), (2, 5, 5)),
        (SmallResNet(), (1, 4, 4)),
        (Concatenating(growth=2), (1, 4)),
        (TiedAutoencoder(), (3,)),
        (circular(4, 3, 2, bias=True), (1, 4)),
    ],
    ids=lambda given: type(given).__name__ if isinstance(given, nn.Module) else None,
)
def test_as_many_are_counted_as_are_listed(model, shape):
    assert count_paths(model, input_shape=shape) == len(list_paths(model, input_shape=shape))


def test_numbers_beyond_any_float_are_exact():
    """997 · 1009^104 has 316 digits."""
    model = fully_connected(997, *[1009] * 3, 1)
    inner = nn.Sequential(*[model[2], nn.ReLU()] * 102)
    deep = nn.Sequential(model[0], nn.ReLU(), inner, model[4], nn.ReLU(), model[6])
    assert count_paths(deep) == 997 * 1009**104


def test_a_resnet_18_is_counted_without_its_edges():
    """Sixteen million weights at 3 × 32 × 32 have far too many paths for any list; the sum of Python integers
    over all edges of a thinner one agrees.
    """
    count = count_paths(ResNet18().eval(), input_shape=(3, 32, 32))
    assert isinstance(count, int)
    assert 10**54 < count < 10**56
    thin = ResNet18(width=1, classes=2).eval()
    graph, places = graph_and_sites(thin, torch.randn(3, 3, 8, 8))
    assert count_paths(thin, input_shape=(3, 8, 8)) == counts_by_edges(graph, places)[0]


def test_a_network_of_ones_computes_its_own_count():
    """With every weight 1 and every gate open, the output at an input of ones is the number of paths."""
    model = nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1, groups=2),
        nn.ReLU(),
        nn.Conv2d(4, 6, 2, stride=2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(24, 3),
    )
    for parameter in model.parameters():
        nn.init.ones_(parameter)
    assert count_paths(model, input_shape=(2, 4, 4), output=1) == int(model(torch.ones(1, 2, 4, 4))[0, 1])
