"""Fully connected networks of the papers (N Table 1, D Table 1): ReLU between the layers.

`widths` lists every layer from the inputs to the outputs, so `(2, 3, 3, 1)` is the network of N Figure 1 and
its depth d, the number of weight layers, is three.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Generator, nn

from penstock.errors import PenstockError
from penstock.lab.models.initialization import Gaussian, NamedLaw
from penstock.lab.models.layers import linear
from penstock.lab.models.many import Made
from penstock.lab.models.random_sizes import random_widths

__all__ = ["deep_linear_network", "fc_network", "random_relu_network", "relu_network", "tapering_network"]


def relu_network(
    widths: Sequence[int],
    law: NamedLaw,
    generator: Generator,
    *,
    bias: bool = False,
    dtype: torch.dtype = torch.float64,
) -> nn.Sequential:
    """A ReLU network with weights drawn from `law`, lowest layer first. Biases, if any, start at zero."""
    modules: list[nn.Module] = []
    for layer in _linear_layers(widths, law, generator, bias, dtype):
        modules += [layer, nn.ReLU()]
    return nn.Sequential(*modules[:-1])


def deep_linear_network(
    widths: Sequence[int],
    law: NamedLaw,
    generator: Generator,
    *,
    bias: bool = False,
    dtype: torch.dtype = torch.float64,
) -> nn.Sequential:
    """The same without its ReLUs: every gate is 1 (the remark after N Definition 3.2).

    The same generator state draws the same weights as `relu_network` does.
    """
    return nn.Sequential(*_linear_layers(widths, law, generator, bias, dtype))


def fc_network(
    generator: Generator,
    *,
    inputs: int = 784,
    classes: int = 10,
    width: int = 128,
    hidden: int = 5,
    law: NamedLaw = "glorot uniform",
    dtype: torch.dtype = torch.float32,
) -> nn.Sequential:
    """FC of N Table 2: five hidden layers of 128 (so d is 6), Glorot uniform, biases that start at zero.

    It takes images or flat inputs and gives logits: the soft-max belongs to the loss.

    >>> fc = fc_network(torch.Generator().manual_seed(0))
    >>> fc(torch.zeros(2, 1, 28, 28)).shape
    torch.Size([2, 10])
    """
    widths = (inputs, *[width] * hidden, classes)
    return nn.Sequential(nn.Flatten(), *relu_network(widths, law, generator, bias=True, dtype=dtype))


def tapering_network(
    generator: Generator,
    *,
    inputs: int = 784,
    widths: Sequence[int] = (512, 512, 256, 256, 128, 64, 10),
    law: NamedLaw = "glorot uniform",
    dtype: torch.dtype = torch.float32,
) -> nn.Sequential:
    """The network of D Figure 5, d = 7, the last of `widths` being the classes. D does not say where its
    weights start; N's networks of the same authors start Glorot uniform, with biases at zero.
    """
    layers = relu_network((inputs, *widths), law, generator, bias=True, dtype=dtype)
    return nn.Sequential(nn.Flatten(), *layers)


def random_relu_network(
    generator: Generator,
    dtype: torch.dtype = torch.float64,
    *,
    inputs: tuple[int, int] = (1, 4),
    hidden: tuple[int, int] = (1, 4),
    depth: tuple[int, int] = (2, 4),
    bias: bool = False,
) -> Made:
    """A ReLU network of random widths and standard normal weights, and the shape of one example."""
    widths = random_widths(generator, inputs=inputs, hidden=hidden, depth=depth)
    return relu_network(widths, Gaussian(1.0), generator, bias=bias, dtype=dtype), widths[:1]


def _linear_layers(
    widths: Sequence[int], law: NamedLaw, generator: Generator, bias: bool, dtype: torch.dtype
) -> list[nn.Linear]:
    if len(widths) < 2 or min(widths) < 1:
        raise PenstockError(
            f"widths={tuple(widths)} is no network; give two positive numbers or more, such as (2, 3, 3, 1)"
        )
    return [linear(*pair, law, generator, dtype, bias=bias) for pair in pairwise(widths)]
