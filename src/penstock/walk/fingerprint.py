"""What a module's graph depends on, as far as it can be told without running the module.

Types, the identity, shape, dtype and device of parameters and buffers, hooks, mode, and plain attributes
(a `negative_slope`, an `eps`, an activation function). It cannot know everything, so what it passes is
also compared.
"""

from collections.abc import Hashable
from types import BuiltinFunctionType, FunctionType

import torch
from torch import Tensor, nn

from penstock.model.parts import layers

__all__ = ["mark_of_input", "mark_of_model"]

_HOOKS = ("_forward_hooks", "_forward_pre_hooks")
_ELSEWHERE = vars(nn.Module()).keys() - {"training"}
_PLAIN = (bool, int, float, str, type(None), torch.dtype, torch.device)
_CODE = (FunctionType, BuiltinFunctionType, type)


def mark_of_model(model: nn.Module) -> Hashable:
    """Equal for a module that nobody changed; another one after a change that its graph may depend on."""
    return tuple(
        (path, type(module), _tensors(module), _attributes(module)) for path, module in layers(model)
    )


def mark_of_input(x: Tensor) -> Hashable:
    """What of the input a graph depends on, and what tensors made in forward take from the surroundings."""
    return x.shape[1:], x.dtype, x.device, torch.get_default_dtype()


def _tensors(module: nn.Module) -> Hashable:
    return tuple(
        (name, id(tensor), tensor.shape, tensor.dtype, tensor.device)
        for register in (module._parameters, module._buffers)
        for name, tensor in register.items()
        if tensor is not None
    )


def _attributes(module: nn.Module) -> Hashable:
    own = vars(module)
    # the keys of hooks are never used twice
    hooks = tuple(key for name in _HOOKS for key in own.get(name, ()))
    return hooks, tuple((name, _plain(value)) for name, value in own.items() if name not in _ELSEWHERE)


def _plain(value: object, depth: int = 2) -> Hashable:
    """The value where it is a plain one, the identity of a function; of anything else its type alone."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, _CODE):
        return id(value)
    if isinstance(value, tuple | list) and depth:
        return tuple(_plain(part, depth - 1) for part in value)
    if isinstance(value, dict) and depth:
        return tuple((key, _plain(part, depth - 1)) for key, part in value.items() if isinstance(key, str))
    return type(value)
