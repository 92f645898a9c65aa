"""Copies of a model: as it is, or in float64 for what must not be decided by rounding."""

import copy
from typing import Any

import torch
from torch import Tensor, nn

from penstock.errors import PenstockError
from penstock.model.parts import describe, layers

__all__ = ["float64_copy", "independent_copy"]


def independent_copy(model: nn.Module) -> nn.Module:
    """A copy of the model that shares nothing with it, without the derived tensors that it may keep."""
    plain = getattr(model, "_orig_mod", model)
    try:
        return copy.deepcopy(plain, _copied_by_hand(plain))
    except Exception as error:
        raise PenstockError(
            f"{describe('', model)} cannot be copied ({type(error).__name__}: {error}); make "
            "copy.deepcopy(model) work first"
        ) from error


def float64_copy(model: nn.Module) -> nn.Module:
    """A copy of the model that shares nothing with it, every floating number in it in float64."""
    copied = independent_copy(model).double()
    for _, module in layers(copied):
        for name, value in vars(module).items():
            if not name.startswith("_"):
                vars(module)[name] = _double(value)
    return copied


def _copied_by_hand(model: nn.Module) -> dict[int, Any]:
    """What `deepcopy` cannot copy: what autograd computed (the weight of weight norm, a stored activation),
    and scripted functions, which hold no numbers of their own."""
    memo: dict[int, Any] = {}
    for _, module in layers(model):
        for value in vars(module).values():
            if isinstance(value, Tensor) and not value.is_leaf:
                memo[id(value)] = value.detach().clone()
            elif isinstance(value, torch.jit.ScriptFunction):
                memo[id(value)] = value
    return memo


def _double(value: Any) -> Any:
    """Tensors that the module keeps without registering them."""
    if isinstance(value, Tensor) and value.is_floating_point() and value.dtype != torch.float64:
        return value.double()
    if type(value) in (list, tuple) and any(isinstance(item, Tensor) for item in value):
        return type(value)(_double(item) for item in value)
    if type(value) is dict and any(isinstance(item, Tensor) for item in value.values()):
        return {key: _double(item) for key, item in value.items()}
    return value
