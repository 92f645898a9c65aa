"""Weights drawn afresh, in place: by a law that is given, or as each layer draws its own.

A weight that a layer derives from others (weight norm, pruning) is drawn as the layer without that would draw
it, and put back through what derives it.
"""

import copy
import inspect
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn.utils import parametrize, prune, remove_weight_norm
from torch.nn.utils.weight_norm import WeightNorm

from penstock.errors import PenstockError
from penstock.model import describe, layers

__all__ = ["Law", "redrawn"]

Law = Callable[..., Any]
"""Fills a weight in place, such as `torch.nn.init.xavier_uniform_`; it may take `generator=`."""


def redrawn(model: nn.Module, init: Law | None, generator: Generator | None) -> nn.Module:
    """The model, its weights drawn afresh, layer by layer.

    Without a law, each layer draws as it did when it was made (`reset_parameters`). With one, `init` fills
    every weight of two dimensions or more and biases are 0; normalisation is as freshly made. Numbers come
    from `generator`, or from torch's global state where none is given.
    """
    with torch.no_grad(), _drawing_from(generator):
        for path, module in layers(model):
            if _own_parameters(module):
                _redraw(path, module, init, generator)
    return model


def _redraw(path: str, module: nn.Module, init: Law | None, generator: Generator | None) -> None:
    plain = _plain(module)
    reset = getattr(plain, "reset_parameters", None)
    weights = {name: tensor for name, tensor in _own_parameters(plain).items() if tensor.ndim > 1}
    if init is None and reset is None:
        raise PenstockError(
            f"{describe(path, module)} has parameters of its own and no reset_parameters, so nobody knows "
            "how to draw them afresh; give it that method, or a law: init=torch.nn.init.xavier_uniform_"
        )
    if reset is not None:
        reset()
    if init is not None and weights:
        for name, tensor in _own_parameters(plain).items():
            if name in weights:
                _fill(init, tensor, generator)
            elif "bias" in name:
                tensor.zero_()
    if plain is not module:
        _put_back(path, module, plain)


def _fill(init: Law, weight: Tensor, generator: Generator | None) -> None:
    try:
        takes = "generator" in inspect.signature(init).parameters
    except (TypeError, ValueError):
        takes = False
    init(weight, generator=generator) if takes else init(weight)
    if not bool(torch.isfinite(weight).all()):
        raise PenstockError(f"init={getattr(init, '__name__', init)} filled a weight with what is not finite")


def _drawing_from(generator: Generator | None) -> Any:
    """Layers draw from torch's global state: seeded from the generator inside, and put back afterwards."""
    if generator is None:
        return nullcontext()
    return _Forked(int(torch.randint(2**63 - 1, (), generator=generator, device=generator.device)))


class _Forked:
    def __init__(self, seed: int):
        self.seed = seed
        self.fork = torch.random.fork_rng()

    def __enter__(self) -> None:
        self.fork.__enter__()
        torch.manual_seed(self.seed)

    def __exit__(self, *error: Any) -> None:
        self.fork.__exit__(*error)


def _own_parameters(module: nn.Module) -> dict[str, nn.Parameter]:
    own = dict(module.named_parameters(recurse=False))
    for name, part in getattr(module, "parametrizations", {}).items():
        own |= {f"parametrizations.{name}.{inner}": each for inner, each in part.named_parameters()}
    return own


def _plain(module: nn.Module) -> nn.Module:
    """The layer without what derives its weights; the layer itself where nothing does."""
    normed = [hook.name for hook in module._forward_pre_hooks.values() if isinstance(hook, WeightNorm)]
    pruned = _pruned(module)
    if not (normed or pruned or parametrize.is_parametrized(module)):
        return module
    plain = copy.deepcopy(module, {id(v): v.detach().clone() for v in vars(module).values() if _derived(v)})
    for name in normed:
        remove_weight_norm(plain, name)
    for name in pruned:
        prune.remove(plain, name)
    if parametrize.is_parametrized(plain):
        for name in list(plain.parametrizations):  # pyright: ignore[reportArgumentType]
            parametrize.remove_parametrizations(plain, name)
    return plain


def _pruned(module: nn.Module) -> list[str]:
    return [
        name.removesuffix("_orig")
        for name, _ in module.named_parameters(recurse=False)
        if name.endswith("_orig") and hasattr(module, f"{name.removesuffix('_orig')}_mask")
    ]


def _derived(value: Any) -> bool:
    return isinstance(value, Tensor) and not value.is_leaf


def _put_back(path: str, module: nn.Module, plain: nn.Module) -> None:
    fresh = _own_parameters(plain)
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, WeightNorm):
            weight = fresh.pop(hook.name)
            dims = [dim for dim in range(weight.ndim) if dim != hook.dim]
            getattr(module, f"{hook.name}_v").copy_(weight)
            getattr(module, f"{hook.name}_g").copy_(torch.linalg.vector_norm(weight, dim=dims, keepdim=True))
    for name, tensor in fresh.items():
        if parametrize.is_parametrized(module, name):
            try:
                setattr(module, name, tensor)
            except (NotImplementedError, RuntimeError) as error:
                raise PenstockError(
                    f"{describe(path, module)} derives its {name} in a way that cannot be undone, so that it "
                    "cannot be drawn afresh; give the parametrization a right_inverse"
                ) from error
        else:
            target = getattr(module, f"{name}_orig", None)
            (getattr(module, name) if target is None else target).copy_(tensor)
