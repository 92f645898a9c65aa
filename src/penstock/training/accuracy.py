"""When an output counts as right."""

from jaxtyping import Bool, Float
from torch import Tensor

__all__ = ["has_accuracy", "hits"]


def has_accuracy(wanted: Tensor) -> bool:
    """Whether the targets say what is right: class labels, ±1 in one column, or rows with one 1 among 0s."""
    if not wanted.is_floating_point():
        return True
    columns = wanted.reshape(len(wanted), -1)
    if columns.shape[1] == 1:
        return bool((columns.abs() == 1).all())
    return bool(((columns == 0) | (columns == 1)).all() and (columns.sum(1) == 1).all())


def hits(outputs: Float[Tensor, "e b *o"], wanted: Tensor) -> Bool[Tensor, "e b"]:
    """Class labels: the largest output has the label's number. One output, ±1: the signs agree (an output of
    0 is wrong). Rows with one 1: the largest output stands where the 1 does."""
    if not wanted.is_floating_point():
        return outputs.argmax(-1) == wanted
    outputs, wanted = outputs.flatten(2), wanted.flatten(2)
    if outputs.shape[2] == 1:
        return (outputs * wanted > 0).squeeze(2)
    return outputs.argmax(-1) == wanted.argmax(-1)
