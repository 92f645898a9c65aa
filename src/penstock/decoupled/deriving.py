"""Layers that derive a weight from others: weight norm, spectral norm, pruning, parametrizations.

Whoever wants to change such a weight changes it in a plain copy of the layer, and puts it back through what
derives it.
"""

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize, prune, remove_spectral_norm, remove_weight_norm
from torch.nn.utils.spectral_norm import SpectralNorm
from torch.nn.utils.weight_norm import WeightNorm

from penstock.errors import PenstockError
from penstock.model import describe

__all__ = ["derives", "own_parameters", "plain_copy", "put_back"]


def own_parameters(module: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters of this layer and no other, those of its parametrizations among them."""
    own = dict(module.named_parameters(recurse=False))
    for name, part in getattr(module, "parametrizations", {}).items():
        own |= {f"parametrizations.{name}.{inner}": each for inner, each in part.named_parameters()}
    return own


def derives(module: nn.Module) -> bool:
    """Whether a weight of the layer is computed from others."""
    return bool(_hooked(module, WeightNorm, SpectralNorm) or _pruned(module)) or parametrize.is_parametrized(
        module
    )


def plain_copy(module: nn.Module) -> nn.Module:
    """A copy of the layer whose weights are parameters of its own."""
    plain = copy.deepcopy(module, {id(v): v.detach().clone() for v in vars(module).values() if _computed(v)})
    for name in _hooked(module, WeightNorm):
        remove_weight_norm(plain, name)
    for name in _hooked(module, SpectralNorm):
        remove_spectral_norm(plain, name)
    for name in _pruned(module):
        prune.remove(plain, name)
    if parametrize.is_parametrized(plain):
        _without_parametrizations(plain)
    return plain


def _without_parametrizations(plain: nn.Module) -> None:
    # torch's own way takes the property off the class, which the copy shares with the layer
    names = list(plain.parametrizations)  # pyright: ignore[reportArgumentType]
    weights = {name: getattr(plain, name).detach().clone() for name in names}
    del plain.parametrizations
    plain.__class__ = type(plain).__bases__[0]
    for name, weight in weights.items():
        plain.register_parameter(name, nn.Parameter(weight))


def put_back(path: str, module: nn.Module, plain: nn.Module) -> None:
    """Gives the layer the weights of its plain copy."""
    fresh = own_parameters(plain)
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, WeightNorm):
            weight = fresh.pop(hook.name)
            dims = [dim for dim in range(weight.ndim) if dim != hook.dim]
            getattr(module, f"{hook.name}_v").copy_(weight)
            getattr(module, f"{hook.name}_g").copy_(torch.linalg.vector_norm(weight, dim=dims, keepdim=True))
    for name, tensor in fresh.items():
        if parametrize.is_parametrized(module, name):
            try:
                setattr(module, name, tensor.detach())
            except (NotImplementedError, RuntimeError) as error:
                raise PenstockError(
                    f"{describe(path, module)} derives its {name} in a way that cannot be undone, so that it "
                    "cannot be drawn afresh; give the parametrization a right_inverse"
                ) from error
        else:
            target = getattr(module, f"{name}_orig", None)
            (getattr(module, name) if target is None else target).copy_(tensor)


def _hooked(module: nn.Module, *kinds: type) -> list[str]:
    hooks: list[Any] = [hook for hook in module._forward_pre_hooks.values() if isinstance(hook, kinds)]
    return [hook.name for hook in hooks]


def _pruned(module: nn.Module) -> list[str]:
    return [
        name.removesuffix("_orig")
        for name, _ in module.named_parameters(recurse=False)
        if name.endswith("_orig") and hasattr(module, f"{name.removesuffix('_orig')}_mask")
    ]


def _computed(value: Any) -> bool:
    return isinstance(value, Tensor) and not value.is_leaf
