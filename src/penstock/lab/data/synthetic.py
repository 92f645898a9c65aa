"""Gaussian inputs, as many as one wants: a fixed set, or a stream that never ends and never repeats
(L Section 4.2, GAUS)."""

from collections.abc import Callable, Iterator, Sequence

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from penstock.errors import PenstockError
from penstock.training.examples import Examples

__all__ = ["gaussian", "gaussian_stream"]


def gaussian(
    count: int,
    shape: Sequence[int],
    generator: Generator,
    *,
    deviation: float | int = 1.0,
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, "n *shape"]:
    """`count` inputs whose numbers are independent and normal with mean zero, on the generator's device.

    >>> gaussian(100, (1, 16, 16), torch.Generator().manual_seed(0), deviation=10).shape
    torch.Size([100, 1, 16, 16])
    """
    if count < 1 or min(shape, default=1) < 1:
        raise PenstockError(f"{count} inputs of shape {tuple(shape)} hold no number; give 1 or more of each")
    if deviation <= 0:
        raise PenstockError(f"deviation={deviation} is no standard deviation; give a positive number")
    drawn = torch.randn(count, *shape, generator=generator, device=generator.device, dtype=dtype)
    return drawn.mul_(deviation)


def gaussian_stream(
    batch: int,
    shape: Sequence[int],
    generator: Generator,
    label: Callable[[Tensor], Tensor],
    *,
    deviation: float | int = 1.0,
    dtype: torch.dtype = torch.float32,
) -> Iterator[Examples]:
    """Batches of new inputs without end, with what `label` (a teacher) says of each.

    An epoch is as many batches as one says: `itertools.islice(stream, 1563)` is 100,000 inputs at 64 a batch.
    A generator with the same seed gives the same stream.

    >>> teacher = nn.Linear(20, 100)
    >>> stream = gaussian_stream(64, (20,), torch.Generator().manual_seed(0), teacher, deviation=10)
    >>> examples = next(stream)
    >>> examples.x.shape, examples.y.shape, examples.y.requires_grad
    (torch.Size([64, 20]), torch.Size([64, 100]), False)
    """
    while True:
        x = gaussian(batch, shape, generator, deviation=deviation, dtype=dtype)
        with torch.no_grad():
            y = label(x)
        yield Examples(x, y)
