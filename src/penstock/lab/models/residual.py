"""A small residual network with BatchNorm, of the shape of the ResNet-20 whose features R Section 5.2 takes.

In a block each BatchNorm stands between convolution and ReLU, ReLUs write in place, and the skip joins before
the last of them. Where the size changes, the skip is a 1×1 convolution with a BatchNorm of its own.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Generator, Tensor, nn

from penstock.errors import PenstockError
from penstock.lab.models.initialization import NamedLaw
from penstock.lab.models.layers import convolution, linear

__all__ = ["ResidualNetwork", "residual_network"]


def residual_network(
    generator: Generator,
    *,
    inputs: int = 3,
    classes: int = 10,
    channels: Sequence[int] = (16, 32, 64),
    blocks: int = 3,
    law: NamedLaw = "he",
    dtype: torch.dtype = torch.float32,
) -> "ResidualNetwork":
    """A stage for each of `channels`, of `blocks` blocks; stages halve the image, the first one excepted.

    With three blocks a stage it has ResNet-20's twenty weight layers.

    >>> residual_network(torch.Generator().manual_seed(0), blocks=1)(torch.zeros(2, 3, 16, 16)).shape
    torch.Size([2, 10])
    """
    if blocks < 1 or not channels or min(channels) < 1:
        raise PenstockError(
            f"blocks={blocks} of channels={tuple(channels)} are no network; give positive numbers"
        )
    draw = _Drawing(law, generator, dtype)
    first = channels[0]
    stem = [draw.convolution(inputs, first), draw.norm(first), nn.ReLU(inplace=True)]
    stages = []
    for place, pair in enumerate(pairwise((first, *channels))):
        opening = _Block(*pair, stride=1 if place == 0 else 2, draw=draw)
        rest = [_Block(pair[1], pair[1], stride=1, draw=draw) for _ in range(blocks - 1)]
        stages.append(nn.Sequential(opening, *rest))
    head = linear(channels[-1], classes, law, generator, dtype)
    return ResidualNetwork(nn.Sequential(*stem), stages, head)


class ResidualNetwork(nn.Module):
    """A stem, stages of residual blocks, the mean over positions, a linear layer."""

    def __init__(self, stem: nn.Module, stages: Sequence[nn.Module], head: nn.Linear):
        super().__init__()
        self.stem = stem
        self.stages = nn.Sequential(*stages)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = head

    def forward(self, x: Float[Tensor, "n channels height width"]) -> Float[Tensor, "n classes"]:
        return self.head(self.pool(self.stages(self.stem(x))).flatten(1))


class _Drawing:
    """Layers of one network: one law, one generator, one dtype, and no biases, which BatchNorm takes away."""

    def __init__(self, law: NamedLaw, generator: Generator, dtype: torch.dtype):
        self.law, self.generator, self.dtype = law, generator, dtype

    def convolution(self, inputs: int, outputs: int, kernel: int = 3, stride: int = 1) -> nn.Conv2d:
        return convolution(
            inputs,
            outputs,
            self.law,
            self.generator,
            self.dtype,
            kernel=kernel,
            stride=stride,
            padding=kernel // 2,
            bias=False,
        )

    def norm(self, channels: int) -> nn.BatchNorm2d:
        return nn.BatchNorm2d(channels, device=self.generator.device, dtype=self.dtype)


class _Block(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int, draw: _Drawing):
        super().__init__()
        self.conv1 = draw.convolution(inputs, outputs, stride=stride)
        self.bn1 = draw.norm(outputs)
        self.conv2 = draw.convolution(outputs, outputs)
        self.bn2 = draw.norm(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.skip: nn.Module = nn.Identity()
        if stride > 1 or inputs != outputs:
            around = draw.convolution(inputs, outputs, kernel=1, stride=stride)
            self.skip = nn.Sequential(around, draw.norm(outputs))

    def forward(self, x: Tensor) -> Tensor:
        z = self.relu(self.bn1(self.conv1(x)))
        z = self.bn2(self.conv2(z)) + self.skip(x)
        return self.relu(z)
