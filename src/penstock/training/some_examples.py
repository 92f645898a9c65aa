"""Some of the examples, for a module that knows each of them by its number."""

from contextlib import AbstractContextManager, nullcontext

from torch import nn

__all__ = ["portion"]


def portion(model: nn.Module, rows: slice) -> AbstractContextManager[None]:
    """Inside, the module is called on these of the examples that it is trained on. A module that keeps
    something for each example (gates from outside) says so by a method `training_rows`.
    """
    own = getattr(model, "training_rows", None)
    return nullcontext() if own is None else own(rows)
