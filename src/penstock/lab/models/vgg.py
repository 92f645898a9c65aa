"""VGG networks with BatchNorm, whose biases L Section 4.1 looks at (L Figures 6 and 16).

A convolution, its BatchNorm, its ReLU; after every stage a max-pooling halves the image.
"""

from collections.abc import Sequence

import torch
from torch import Generator, nn

from penstock.errors import PenstockError
from penstock.lab.models.initialization import NamedLaw
from penstock.lab.models.layers import convolution, linear

__all__ = ["vgg_network"]


def vgg_network(
    generator: Generator,
    *,
    inputs: int = 3,
    size: int = 32,
    classes: int = 10,
    stages: Sequence[Sequence[int]] = ((16,), (32,), (64, 64), (128, 128), (128, 128)),
    law: NamedLaw = "he",
    dtype: torch.dtype = torch.float32,
) -> nn.Sequential:
    """The channels of each stage's convolutions; by default VGG11's eight at a quarter of their width, with
    one linear layer on top, as is usual for images of 32×32.

    >>> vgg = vgg_network(torch.Generator().manual_seed(0), size=8, stages=((4,), (8, 8)))
    >>> vgg(torch.zeros(2, 3, 8, 8)).shape
    torch.Size([2, 10])
    """
    left = size >> len(stages)
    if left < 1 or not all(stages):
        raise PenstockError(
            f"stages={tuple(map(tuple, stages))} halve images of {size}×{size} to nothing, or hold no "
            "convolution; give fewer stages, each with the channels of its convolutions"
        )
    modules: list[nn.Module] = []
    channels = inputs
    for stage in stages:
        for wider in stage:
            modules += [
                convolution(channels, wider, law, generator, dtype),
                nn.BatchNorm2d(wider, device=generator.device, dtype=dtype),
                nn.ReLU(inplace=True),
            ]
            channels = wider
        modules.append(nn.MaxPool2d(2))
    head = linear(channels * left**2, classes, law, generator, dtype)
    return nn.Sequential(*modules, nn.Flatten(), head)
