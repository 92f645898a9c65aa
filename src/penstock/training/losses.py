"""The losses of an ensemble: what each example adds, and the slope by the outputs.

The slopes are written out, because autograd needs longer for them than the arithmetic does.
"""

from abc import ABC, abstractmethod

from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from penstock.training.recipe import LossName

__all__ = ["LOSSES", "Loss"]


class Loss(ABC):
    """A loss of outputs that are E × B × …"""

    mean: bool = True
    """Whether a batch counts by the mean of its examples, or by their sum."""

    @abstractmethod
    def each(self, outputs: Float[Tensor, "e b *o"], wanted: Tensor) -> Float[Tensor, "e b"]:
        """What each example adds."""

    @abstractmethod
    def with_slope(
        self, outputs: Float[Tensor, "e b *o"], wanted: Tensor
    ) -> tuple[Float[Tensor, "e b"], Float[Tensor, "e b *o"]]:
        """The same, and the derivative of each member's loss on the batch by its outputs."""


class CrossEntropy(Loss):
    """−log softmax(f)_y. Its slope is softmax(f) − onehot(y), over the size of the batch."""

    def each(self, outputs: Float[Tensor, "e b c"], wanted: Int[Tensor, "e b"]) -> Float[Tensor, "e b"]:
        return -F.log_softmax(outputs, -1).gather(2, wanted.unsqueeze(2)).squeeze(2)

    def with_slope(
        self, outputs: Float[Tensor, "e b c"], wanted: Int[Tensor, "e b"]
    ) -> tuple[Float[Tensor, "e b"], Float[Tensor, "e b c"]]:
        logarithms, index = F.log_softmax(outputs, -1), wanted.unsqueeze(2)
        each = logarithms.gather(2, index).squeeze(2).neg_()
        slope = logarithms.exp_()
        slope.scatter_add_(2, index, slope.new_full((1, 1, 1), -1.0).expand(index.shape))
        return each, slope.div_(outputs.shape[1])


class MeanSquared(Loss):
    """(f − y)², the mean over the outputs."""

    def each(self, outputs: Float[Tensor, "e b *o"], wanted: Float[Tensor, "e b *o"]) -> Float[Tensor, "e b"]:
        return (outputs - wanted).square_().flatten(2).mean(2)

    def with_slope(
        self, outputs: Float[Tensor, "e b *o"], wanted: Float[Tensor, "e b *o"]
    ) -> tuple[Float[Tensor, "e b"], Float[Tensor, "e b *o"]]:
        error = outputs - wanted
        each = error.square().flatten(2).mean(2)
        return each, error.mul_(2 / outputs[0].numel())


class HalfSumOfSquares(Loss):
    """½ Σ (f − y)² over the outputs; a batch counts by the sum of its examples."""

    mean = False

    def each(self, outputs: Float[Tensor, "e b *o"], wanted: Float[Tensor, "e b *o"]) -> Float[Tensor, "e b"]:
        return (outputs - wanted).square_().flatten(2).sum(2).div_(2)

    def with_slope(
        self, outputs: Float[Tensor, "e b *o"], wanted: Float[Tensor, "e b *o"]
    ) -> tuple[Float[Tensor, "e b"], Float[Tensor, "e b *o"]]:
        error = outputs - wanted
        return error.square().flatten(2).sum(2).div_(2), error


LOSSES: dict[LossName, Loss] = {
    "cross entropy": CrossEntropy(),
    "mean squared": MeanSquared(),
    "half sum of squares": HalfSumOfSquares(),
}
