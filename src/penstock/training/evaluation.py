"""Loss and accuracy of an ensemble on a whole split, in chunks."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from penstock.training.accuracy import has_accuracy, hits
from penstock.training.examples import Examples
from penstock.training.losses import Loss
from penstock.training.ways.way import Batch, Named, Split, Way

__all__ = ["Scores", "evaluate"]


class Scores(NamedTuple):
    """One number a member. The loss is the mean over examples, or the sum for a loss that is one; accuracy is
    NaN where the targets do not say what is right."""

    loss: Float[Tensor, " e"]
    accuracy: Float[Tensor, " e"]


@torch.no_grad()
def evaluate(way: Way, parameters: Named, loss: Loss, examples: Examples, split: Split, rows: int) -> Scores:
    """In evaluation mode, `rows` examples at a time."""
    members = len(next(iter(parameters.values())))
    total = torch.zeros(members, dtype=torch.float64, device=examples.x.device)
    right = torch.zeros_like(total)
    for start in range(0, examples.count, rows):
        part = slice(start, min(start + rows, examples.count))
        x, wanted = (whole[part].expand(members, *whole[part].shape) for whole in examples)
        outputs = way.outputs(parameters, Batch(split, part, x, training=False))
        total += loss.each(outputs, wanted).sum(1, dtype=torch.float64)
        right += hits(outputs, wanted).sum(1)
    if loss.mean:
        total /= examples.count
    known = has_accuracy(examples.y)
    return Scores(total.cpu(), (right / examples.count if known else right.fill_(torch.nan)).cpu())
