"""The random teachers of L Section 4.3: entries from five values, no two rows alike, rows of unit norm.

Before that, biases are uniform on [-½, ½]; each is then scaled along with its row, so that what opens a gate
stays what it was. BatchNorm, where asked for, comes *after* the ReLU; the code of L has its scale and shift
for convolutions only.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import prod

import torch
from jaxtyping import Float
from torch import Generator, Tensor, nn

from penstock.errors import PenstockError
from penstock.lab.models.initialization import Gaussian
from penstock.lab.models.layers import convolution, linear

__all__ = ["ENTRIES", "convolutional_teacher", "fully_connected_teacher"]

ENTRIES = (-0.5, -0.25, 0.0, 0.25, 0.5)
"""What a teacher's weights are drawn from."""

# Any: the weights are drawn again, row by row.
_PLACEHOLDER = Gaussian(1.0)


def fully_connected_teacher(
    generator: Generator,
    *,
    inputs: int = 20,
    hidden: Sequence[int] = (50, 75, 100, 125),
    outputs: int = 100,
    batch_norm: bool = False,
    dtype: torch.dtype = torch.float32,
) -> nn.Sequential:
    """The teacher 50-75-100-125; `hidden=(10, 15, 20, 25)` is the small one of L Figure 9.

    >>> teacher = fully_connected_teacher(torch.Generator().manual_seed(0))
    >>> bool((teacher[0].weight.norm(dim=1) - 1).abs().max() < 1e-6)
    True
    """
    modules: list[nn.Module] = []
    for pair in pairwise((inputs, *hidden)):
        modules += [_taught(linear(*pair, _PLACEHOLDER, generator, dtype), generator), nn.ReLU()]
        if batch_norm:
            modules.append(nn.BatchNorm1d(pair[1], affine=False, device=generator.device, dtype=dtype))
    last = linear(hidden[-1], outputs, _PLACEHOLDER, generator, dtype)
    return nn.Sequential(*modules, _taught(last, generator))


def convolutional_teacher(
    generator: Generator,
    *,
    image: tuple[int, int, int] = (1, 16, 16),
    channels: Sequence[int] = (64, 64, 64, 64),
    outputs: int = 100,
    batch_norm: bool = False,
    dtype: torch.dtype = torch.float32,
) -> nn.Sequential:
    """The teacher 64-64-64-64: 3×3 convolutions without padding, each taking two rows and columns away."""
    left = [size - 2 * len(channels) for size in image[1:]]
    if min(left) < 1:
        raise PenstockError(
            f"{len(channels)} convolutions without padding leave nothing of images {image}; give fewer "
            "channels=, or larger images"
        )
    modules: list[nn.Module] = []
    for pair in pairwise((image[0], *channels)):
        layer = convolution(*pair, _PLACEHOLDER, generator, dtype, padding=0)
        modules += [_taught(layer, generator), nn.ReLU()]
        if batch_norm:
            modules.append(nn.BatchNorm2d(pair[1], device=generator.device, dtype=dtype))
    last = linear(channels[-1] * prod(left), outputs, _PLACEHOLDER, generator, dtype)
    return nn.Sequential(*modules, nn.Flatten(), _taught(last, generator))


def _taught(layer: nn.Linear | nn.Conv2d, generator: Generator) -> nn.Module:
    """The layer with a teacher's weights and biases."""
    assert layer.bias is not None
    rows = _different_rows(len(layer.weight), layer.weight[0].numel(), generator)
    biases = torch.rand(len(rows), generator=generator, dtype=rows.dtype, device=rows.device) - 0.5
    norms = rows.norm(dim=1)
    with torch.no_grad():
        layer.weight.copy_((rows / norms[:, None]).view_as(layer.weight))
        layer.bias.copy_(biases / norms)
    return layer


def _different_rows(count: int, entries: int, generator: Generator) -> Float[Tensor, "{count} {entries}"]:
    """Rows of entries from the five values, none of zeros alone and no two alike."""
    if count > len(ENTRIES) ** entries - 1:
        raise PenstockError(
            f"there are no {count} different rows of {entries} entries from {len(ENTRIES)} values; give "
            "fewer units, or more inputs"
        )
    device = generator.device
    values = torch.tensor(ENTRIES, dtype=torch.float64, device=device)
    rows = torch.zeros(0, entries, dtype=torch.int64, device=device)
    while len(rows) < count:
        drawn = torch.randint(len(ENTRIES), (count, entries), generator=generator, device=device)
        rows = _first_of_each(torch.cat([rows, drawn[(values[drawn] != 0).any(dim=1)]]))
    return values[rows[:count]]


def _first_of_each(rows: Tensor) -> Tensor:
    """The rows without those that were there before, in their order."""
    _, kind = torch.unique(rows, dim=0, return_inverse=True)
    seen: set[int] = set()
    first = [place for place, each in enumerate(kind.tolist()) if not (each in seen or seen.add(each))]
    return rows[first]
