"""Average pooling: every entry of a window passes the constant weight 1/k, with torch's k at the border."""

import pytest
import torch
from torch import nn

from oracle.edges import assert_edges_are_the_module
from penstock import count_paths, list_paths


@pytest.mark.parametrize(
    ("pool", "shape"),
    [
        (nn.AvgPool1d(2), (2, 5)),
        (nn.AvgPool1d(3, stride=2, padding=1), (2, 4)),
        (nn.AvgPool1d(3, stride=2, padding=1, ceil_mode=True), (2, 4)),
        (nn.AvgPool1d(3, padding=1, count_include_pad=False), (1, 4)),
        (nn.AvgPool2d(2, stride=1), (2, 3, 3)),
        (
            nn.AvgPool2d((3, 2), stride=(2, 1), padding=(1, 0), ceil_mode=True, count_include_pad=False),
            (1, 4, 3),
        ),
        (nn.AvgPool2d(2, divisor_override=3), (1, 4, 4)),
        (nn.AvgPool3d(2, stride=1, padding=1), (1, 2, 2, 2)),
        (nn.AdaptiveAvgPool1d(3), (2, 5)),
        (nn.AdaptiveAvgPool2d((2, 3)), (2, 3, 4)),
        (nn.AdaptiveAvgPool2d((1, None)), (1, 3, 4)),
        (nn.AdaptiveAvgPool3d(1), (2, 2, 2, 2)),
    ],
    ids=str,
)
def test_edges_are_the_average(pool, shape):
    assert_edges_are_the_module(
        nn.Sequential(pool, nn.Flatten()), torch.randn(2, *shape, dtype=torch.float64)
    )


def test_features_without_channels_are_pooled_too():
    class Bare(nn.Module):
        def forward(self, x):
            return nn.functional.avg_pool1d(x, 2)

    assert_edges_are_the_module(Bare(), torch.randn(3, 6, dtype=torch.float64))


def test_the_same_divisor_is_the_same_constant():
    model = nn.Sequential(nn.AvgPool1d(3, stride=1), nn.Flatten())
    paths = list_paths(model, input_shape=(1, 5), output=1)
    assert [path.weights[0].constant for path in paths] == [1 / 3] * 3
    assert len(paths.bundles) == 1


def test_windows_of_a_large_image_are_found_without_trying_every_pixel():
    """A quarter of a million positions: an image for each would be 2^36 numbers."""
    model = nn.Sequential(nn.AvgPool2d(2), nn.MaxPool2d(2), nn.Flatten())
    assert count_paths(model, input_shape=(1, 512, 512), output=100) == 16
