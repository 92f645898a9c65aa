"""The digits that come with scikit-learn: 1,797 of 8 × 8 pixels in 17 shades, the one data set that is always
there."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from penstock.lab.data.dataset import DataSet
from penstock.training.examples import Examples

__all__ = ["digits"]

#: The brightest of the 17 shades.
WHITE = 16
#: Of every class, one example in so many is kept for testing.
ONE_IN = 5


def digits() -> DataSet:
    """Handwritten digits, pixels in [0, 1] in float64, split once and for all: of each class, in the order in
    which the examples lie, every fifth is to test on.

    The split is stratified, and it depends on no random number generator, so it is the same everywhere: 1,442
    examples to train on and 355 to test on.
    """
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    x = torch.from_numpy(pixels / WHITE).reshape(-1, 1, 8, 8)
    every = Examples(x, torch.from_numpy(labels).to(torch.int64))
    tested = _every_fifth_of_its_class(every.y)
    return DataSet("digits", every.select(~tested), every.select(tested), tuple("0123456789"))


def _every_fifth_of_its_class(labels: Int[Tensor, " n"]) -> Bool[Tensor, " n"]:
    is_of = labels[:, None] == labels.unique()
    place = (is_of.cumsum(0) * is_of).sum(1)  # 1 for the first of its class
    return place % ONE_IN == 0
