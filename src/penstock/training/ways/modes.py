"""A module in training mode or in evaluation mode for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn

__all__ = ["mode"]


@contextmanager
def mode(model: nn.Module, *, training: bool) -> Iterator[None]:
    """In training, layers that the user has set to evaluation mode inside a model in training mode stay so;
    afterwards everything is as it was."""
    if model.training and training:
        yield
        return
    found = [(module, module.training) for module in model.modules()]
    try:
        model.train(training)
        yield
    finally:
        for module, was in found:
            module.training = was
