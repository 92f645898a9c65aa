"""`count_paths`: how many paths a network has."""

from collections.abc import Sequence

from torch import nn

from penstock.paths.asking import ask

__all__ = ["count_paths"]


def count_paths(model: nn.Module, *, input_shape: Sequence[int] | None = None, output: int = 0) -> int:
    """P, the number of paths that lead to one output (N Section 2.1), exact however large it is.

    A fully connected network without biases has `d_in · w^(d-1)` of them; each bias starts paths of its own.
    A weight counts where the architecture has it, also where it is 0.

    >>> count_paths(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)))
    10
    """
    return ask(model, input_shape, output).tally.paths
