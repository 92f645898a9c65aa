"""What every data set of the laboratory is: examples to train on, examples to test on, and what its classes
are called."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from penstock.errors import PenstockError
from penstock.lab.data.pixels import check_floating, scale_bytes
from penstock.training.examples import Examples

__all__ = ["DataSet"]


@dataclass(frozen=True)
class DataSet:
    """Examples to train on and examples to test on.

    Images are channels × height × width; `.flat()` is for networks that begin with a linear layer.

    >>> from penstock.lab.data.named import load_data
    >>> data = load_data("digits")
    >>> data.name, data.shape, data.train.count, data.test.count
    ('digits', (1, 8, 8), 1442, 355)
    >>> data.flat().train.select(slice(0, 100)).x.shape
    torch.Size([100, 64])
    """

    name: str
    train: Examples
    test: Examples
    classes: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one example's input."""
        return tuple(self.train.x.shape[1:])

    def change(self, by: Callable[[Examples], Examples]) -> "DataSet":
        """The same change made to the examples to train on and to those to test on, in this order."""
        return replace(self, train=by(self.train), test=by(self.test))

    def flat(self) -> "DataSet":
        """Every input as one row of numbers."""
        return self.change(lambda examples: Examples(examples.x.flatten(1), examples.y))

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> "DataSet":
        """On another device, and in another dtype; bytes become numbers in [0, 1] on the way."""
        if dtype not in (None, self.train.x.dtype) and not dtype.is_floating_point:
            raise PenstockError(
                f"the inputs of {self.name} are {self.train.x.dtype} and cannot become {dtype}; ask for a "
                "floating-point dtype, or load pixels from their files with dtype=torch.uint8"
            )

        def convert(examples: Examples) -> Examples:
            moved = examples.to(device)
            if dtype is None or not dtype.is_floating_point:
                return moved
            x = scale_bytes(moved.x, dtype) if moved.x.dtype == torch.uint8 else moved.x
            return Examples(x, moved.y).to(dtype=dtype)

        return self.change(convert)

    def standardized(self) -> "DataSet":
        """Every channel of the inputs (every feature, where they are flat) with mean 0 and standard deviation
        1 over the examples to train on; the same shift and scale for those to test on.

        A feature that is the same for all examples to train on, such as a corner of MNIST's images, is only
        shifted.
        """
        x = self.train.x
        check_floating(x, "standardizing")
        others = [dim for dim in range(x.ndim) if dim != 1]
        spread, mean = torch.std_mean(x, dim=others, correction=0, keepdim=True)
        steady = x.amax(dim=others, keepdim=True) == x.amin(dim=others, keepdim=True)
        spread = spread.masked_fill(steady, 1.0)
        return self.change(lambda examples: Examples((examples.x - mean).div_(spread), examples.y))
