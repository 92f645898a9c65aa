"""A small VGG with BatchNorm."""

import pytest
import torch
from torch import nn

from penstock.errors import PenstockError
from penstock.lab.models.random_sizes import seeded
from penstock.lab.models.vgg import vgg_network


def test_it_has_vgg11s_eight_convolutions_at_a_quarter_of_their_width():
    model = vgg_network(seeded(0))
    channels = [module.out_channels for module in model if isinstance(module, nn.Conv2d)]
    assert channels == [size // 4 for size in (64, 128, 256, 256, 512, 512, 512, 512)]
    convolutions = [
        448,  # 3·16·9 + 16
        4_640,
        18_496,
        36_928,
        73_856,
        147_584,
        147_584,
        147_584,
    ]
    norms = 2 * sum(channels)
    assert sum(p.numel() for p in model.parameters()) == sum(convolutions) + norms + 1_290
    assert model(torch.rand(2, 3, 32, 32)).shape == (2, 10)


def test_each_convolution_is_normalized_then_gated_and_each_stage_pooled():
    kinds = [type(module) for module in vgg_network(seeded(0), size=8, stages=((4,), (6, 6)))]
    one = [nn.Conv2d, nn.BatchNorm2d, nn.ReLU]
    assert kinds == [*one, nn.MaxPool2d, *one, *one, nn.MaxPool2d, nn.Flatten, nn.Linear]


def test_images_may_be_larger_than_what_is_pooled_away():
    assert vgg_network(seeded(0), size=12, stages=((4,), (6,)))(torch.rand(2, 3, 12, 12)).shape == (2, 10)


@pytest.mark.parametrize("stages", [((4,), (4,), (4,)), ((4,), ())])
def test_stages_that_leave_nothing_are_refused(stages: tuple[tuple[int, ...], ...]):
    with pytest.raises(PenstockError, match="give fewer stages, each with the channels"):
        vgg_network(seeded(0), size=4, stages=stages)
