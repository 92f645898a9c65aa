"""Where numbers stop being finite."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from penstock.errors import PenstockError
from penstock.model import describe, left_as_found
from penstock.training.ways.modes import mode

__all__ = ["first_not_finite"]


def first_not_finite(model: nn.Module, x: Tensor) -> str:
    """The first parameter that is not finite; else the first layer, in the order of calls, whose output for
    `x` is not.

    >>> first_not_finite(model, x * float("inf"))
    'the layer 0 (Linear) gives what is not finite'
    """
    for name, parameter in model.named_parameters():
        if not bool(torch.isfinite(parameter).all()):
            return f"the parameter {name} is not finite"
    found: list[str] = []

    def look(path: str, module: nn.Module) -> Any:
        def hook(_: nn.Module, __: Any, output: Any) -> None:
            if not all(bool(torch.isfinite(each).all()) for each in _tensors(output)):
                found.append(f"{describe(path, module)} gives what is not finite")

        return hook

    with left_as_found(model), torch.no_grad(), mode(model, training=True):
        for path, module in model.named_modules():
            module.register_forward_hook(look(path, module))
        with suppress(PenstockError):  # of a module that knows other examples
            model(x)
    return found[0] if found else "the loss is not finite, though the outputs are"


def _tensors(output: Any) -> Iterator[Tensor]:
    if isinstance(output, Tensor):
        yield output
    elif isinstance(output, tuple | list):
        for each in output:
            yield from _tensors(each)
