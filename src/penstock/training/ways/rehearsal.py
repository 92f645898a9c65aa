"""Trying modules on a few examples before they are trained: do they draw, and can they be stacked?"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from penstock.model import call, left_as_found
from penstock.training.ways.mapped import Mapped
from penstock.training.ways.modes import mode
from penstock.training.ways.way import Batch

__all__ = ["differs", "draws"]

# Enough for what asks for more than one example (BatchNorm in training mode).
_ROWS = 4


def draws(model: nn.Module, x: Tensor) -> bool:
    """Whether the module draws random numbers in training mode."""
    with left_as_found(model), torch.no_grad(), mode(model, training=True), _Draws() as seen:
        call(model, x[:_ROWS])
    return seen.any


def differs(models: Sequence[nn.Module], x: Tensor) -> str | None:
    """Why the modules cannot be stacked: None if stacked they give what each gives by itself."""
    few = x[:_ROWS]
    wanted = []
    for model in models:
        with left_as_found(model), torch.no_grad(), mode(model, training=True):
            wanted.append(call(model, few))
    stacked = Mapped(models)
    batch = Batch("train", slice(0, len(few)), few.expand(len(models), *few.shape), training=True)
    try:
        with left_as_found(models[0]), torch.no_grad():
            found = stacked.outputs(stacked.parameters(), batch)
    except (RuntimeError, ValueError, TypeError, AttributeError, NotImplementedError) as error:
        return f"the model cannot be stacked ({str(error).strip().splitlines()[0][:120]})"
    same = torch.allclose(found, torch.stack(wanted), rtol=1e-4, atol=1e-5)
    return None if same else "stacked, the modules give something else than by themselves"


class _Draws(TorchDispatchMode):
    """Sees operations that draw."""

    any = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if torch.Tag.nondeterministic_seeded in func.tags:
            self.any = True
        return func(*args, **(kwargs or {}))
