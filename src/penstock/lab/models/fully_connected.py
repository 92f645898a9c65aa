"""Fully connected networks of the papers (N Table 1, D Table 1): ReLU between the layers.

`widths` lists every layer from the inputs to the outputs, so `(2, 3, 3, 1)` is the network of N Figure 1 and
its depth d, the number of weight layers, is three.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Generator, nn

from penstock.errors import PenstockError
from penstock.lab.models.initialization import Gaussian, Law
from penstock.lab.models.many import Made
from penstock.lab.models.random_sizes import random_widths

__all__ = ["deep_linear_network", "random_relu_network", "relu_network"]


def relu_network(
    widths: Sequence[int],
    law: Law,
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
    law: Law,
    generator: Generator,
    *,
    bias: bool = False,
    dtype: torch.dtype = torch.float64,
) -> nn.Sequential:
    """The same without its ReLUs: every gate is 1 (the remark after N Definition 3.2).

    The same generator state draws the same weights as `relu_network` does.
    """
    return nn.Sequential(*_linear_layers(widths, law, generator, bias, dtype))


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
    widths: Sequence[int], law: Law, generator: Generator, bias: bool, dtype: torch.dtype
) -> list[nn.Linear]:
    if len(widths) < 2 or min(widths) < 1:
        raise PenstockError(
            f"widths={tuple(widths)} is no network; give two positive numbers or more, such as (2, 3, 3, 1)"
        )
    layers = []
    for fan_in, fan_out in pairwise(widths):
        layer = nn.Linear(fan_in, fan_out, bias=False, device="meta")
        layer.weight = nn.Parameter(law.draw((fan_out, fan_in), generator, dtype))
        if bias:
            layer.bias = nn.Parameter(torch.zeros(fan_out, dtype=dtype))
        layers.append(layer)
    return layers
