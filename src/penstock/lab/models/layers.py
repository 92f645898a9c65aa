"""Single layers with weights from a law. Biases start at zero, where the papers' networks have any."""

import torch
from torch import Generator, nn

from penstock.lab.models.initialization import NamedLaw, law_of

__all__ = ["convolution", "linear"]


def linear(
    inputs: int, outputs: int, law: NamedLaw, generator: Generator, dtype: torch.dtype, *, bias: bool = True
) -> nn.Linear:
    """A linear layer, from `inputs` numbers to `outputs`."""
    layer = nn.Linear(inputs, outputs, bias=False, device="meta")
    layer.weight = nn.Parameter(law_of(law).draw((outputs, inputs), generator, dtype))
    if bias:
        layer.bias = _zeros(layer.weight)
    return layer


def convolution(
    inputs: int,
    outputs: int,
    law: NamedLaw,
    generator: Generator,
    dtype: torch.dtype,
    *,
    kernel: int = 3,
    stride: int = 1,
    padding: int = 1,
    bias: bool = True,
) -> nn.Conv2d:
    """A convolution over images: 3×3 with stride 1 and the size kept, unless told otherwise."""
    layer = nn.Conv2d(inputs, outputs, kernel, stride, padding, bias=False, device="meta")
    layer.weight = nn.Parameter(law_of(law).draw((outputs, inputs, kernel, kernel), generator, dtype))
    if bias:
        layer.bias = _zeros(layer.weight)
    return layer


def _zeros(weight: nn.Parameter) -> nn.Parameter:
    return nn.Parameter(torch.zeros(len(weight), dtype=weight.dtype, device=weight.device))
