"""Two classes against each other, with targets -1 and 1: Binary-MNIST is 4 against 7 (N Section 6.1,
D Section 3)."""

import torch

from penstock.errors import PenstockError
from penstock.lab.data.dataset import DataSet
from penstock.training.examples import Examples

__all__ = ["first_of_each_class", "two_classes"]


def two_classes(data: DataSet, negative: int, positive: int, name: str | None = None) -> DataSet:
    """Of a labelled data set the examples of two classes, in their order, with the target -1 or 1 in a column
    of its own.

    >>> from penstock.lab.data.named import load_data
    >>> two_classes(load_data("digits"), 4, 7).train.y[:3].T
    tensor([[-1.,  1., -1.]])
    """
    for label in (negative, positive):
        if not 0 <= label < len(data.classes):
            raise PenstockError(
                f"{data.name} has no class {label}; its {len(data.classes)} classes are counted from 0"
            )
    if negative == positive:
        raise PenstockError(
            f"a class cannot be told from itself; give two different ones, not {negative} twice"
        )

    def keep(examples: Examples) -> Examples:
        kept = examples.select((examples.y == negative) | (examples.y == positive))
        dtype = kept.x.dtype if kept.x.is_floating_point() else torch.float32
        return Examples(kept.x, ((kept.y == positive) * 2 - 1).to(dtype)[:, None])

    classes = (data.classes[negative], data.classes[positive])
    changed = data.change(keep)
    return DataSet(name or f"{data.name}: {' against '.join(classes)}", changed.train, changed.test, classes)


def first_of_each_class(examples: Examples, count: int) -> Examples:
    """The first `count` examples of every class, in the order in which they lie: N Figure 3 measures ν on the
    first 100 of either class of Binary-MNIST.

    >>> from penstock.lab.data.named import load_data
    >>> first_of_each_class(load_data("digits").train, 2).y
    tensor([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    if count < 1:
        raise PenstockError(f"count={count} is no number of examples; give 1 or more")
    # targets have a column, labels have not
    kinds, kind = torch.unique(examples.y.reshape(examples.count, -1), dim=0, return_inverse=True)
    is_of = kind[:, None] == torch.arange(len(kinds), device=kind.device)
    fewest = int(is_of.sum(0).min())
    if fewest < count:
        raise PenstockError(f"the smallest class has {fewest} examples, and {count} of each are asked for")
    return examples.select((is_of & (is_of.cumsum(0) <= count)).any(1))
