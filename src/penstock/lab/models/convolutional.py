"""VCONV and GCONV, the convolutional networks of N Table 2 and D Section 5.

Four 3×3 convolutions of stride 1 that keep the image's size ("a stride of (3,3)" is the kernel's), with a
global average pooling (GCONV) or without (VCONV), then dense layers of 256 units and the classes.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import prod

import torch
from torch import Generator, nn

from penstock.errors import PenstockError
from penstock.lab.models.initialization import NamedLaw
from penstock.lab.models.layers import convolution, linear

__all__ = ["gconv_network", "vconv_network"]

Image = tuple[int, int, int]
"""Channels, height, width."""


def vconv_network(
    generator: Generator,
    *,
    image: Image = (3, 32, 32),
    classes: int = 10,
    channels: Sequence[int] = (64, 64, 128, 128),
    dense: Sequence[int] = (256, 256),
    law: NamedLaw = "glorot uniform",
    dtype: torch.dtype = torch.float32,
) -> nn.Sequential:
    """VCONV: every position of the last convolution is an input of the first dense layer.

    `dense=(256,)` is the network of N's published text; its first version and its code have two such layers.
    """
    convolutions = _convolutions(image, channels, law, generator, dtype)
    widths = (channels[-1] * prod(image[1:]), *dense, classes)
    return nn.Sequential(*convolutions, nn.Flatten(), *_dense(widths, law, generator, dtype))


def gconv_network(
    generator: Generator,
    *,
    image: Image = (3, 32, 32),
    classes: int = 10,
    channels: Sequence[int] = (64, 64, 128, 128),
    dense: Sequence[int] = (256, 256),
    law: NamedLaw = "glorot uniform",
    dtype: torch.dtype = torch.float32,
) -> nn.Sequential:
    """GCONV: VCONV with the mean over all positions before the dense layers.

    >>> gconv = gconv_network(torch.Generator().manual_seed(0), channels=(4, 4, 8, 8), dense=(16,))
    >>> gconv(torch.zeros(2, 3, 32, 32)).shape
    torch.Size([2, 10])
    """
    convolutions = _convolutions(image, channels, law, generator, dtype)
    pooled = (nn.AdaptiveAvgPool2d(1), nn.Flatten())
    widths = (channels[-1], *dense, classes)
    return nn.Sequential(*convolutions, *pooled, *_dense(widths, law, generator, dtype))


def _convolutions(
    image: Image, channels: Sequence[int], law: NamedLaw, generator: Generator, dtype: torch.dtype
) -> list[nn.Module]:
    if not channels or min((*channels, *image)) < 1:
        raise PenstockError(
            f"channels={tuple(channels)} on images {image} is no network; give one positive number a layer"
        )
    modules: list[nn.Module] = []
    for pair in pairwise((image[0], *channels)):
        modules += [convolution(*pair, law, generator, dtype), nn.ReLU()]
    return modules


def _dense(widths: Sequence[int], law: NamedLaw, generator: Generator, dtype: torch.dtype) -> list[nn.Module]:
    modules: list[nn.Module] = []
    for pair in pairwise(widths):
        modules += [linear(*pair, law, generator, dtype), nn.ReLU()]
    return modules[:-1]
