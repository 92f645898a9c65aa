"""Upsampling by interpolation: constant weights."""

import pytest
import torch
from torch import nn

from oracle.edges import assert_edges_are_the_module


@pytest.mark.parametrize(
    ("upsample", "shape"),
    [
        (nn.Upsample(scale_factor=2, mode="linear"), (2, 3)),
        (nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), (1, 2, 3)),
        (nn.Upsample(size=(2, 2, 3), mode="trilinear"), (1, 2, 2, 2)),
        (nn.Upsample(scale_factor=2, mode="bicubic"), (1, 2, 2)),
    ],
    ids=str,
)
def test_edges_are_the_interpolation(upsample, shape):
    model = nn.Sequential(upsample, nn.Flatten())
    assert_edges_are_the_module(model, torch.randn(2, *shape, dtype=torch.float64))
