"""Weights drawn afresh, in place: by a law that is given, or as each layer draws its own."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn.utils.parametrize import ParametrizationList

from penstock.decoupled.deriving import derives, own_parameters, plain_copy, put_back
from penstock.errors import PenstockError
from penstock.model import describe, layers

__all__ = ["Law", "redrawn"]

Law = Callable[..., Any]
"""Fills a weight in place, such as `torch.nn.init.xavier_uniform_`; it may take `generator=`."""


def redrawn(model: nn.Module, init: Law | None, generator: Generator | None) -> nn.Module:
    """The model, its weights drawn afresh, layer by layer.

    Without a law, each layer draws as it did when it was made (`reset_parameters`). With one, `init` fills
    every weight of two dimensions or more and biases are 0; normalisation is as freshly made. Numbers come
    from `generator`, or from torch's global state where none is given. A weight that several layers share is
    drawn once, and one that a layer derives from others (weight norm, pruning) as the plain layer would.
    """
    if init is not None and not callable(init):
        raise PenstockError(
            f"init={init!r} is no law; give a function that fills a weight in place, such as "
            "torch.nn.init.xavier_uniform_"
        )
    if generator is not None and not isinstance(generator, Generator):
        raise PenstockError(f"generator= takes a torch.Generator, not {type(generator).__name__}")
    with torch.no_grad(), _drawing_from(generator):
        untouched = _Untouched(model)
        drawn: set[int] = set()
        for path, module in _inside_out(model):
            _draw(path, module, _reset, drawn)
        if init is not None:
            filled: set[int] = set()
            for path, module in _weighty(model):
                _draw(path, module, lambda plain: _fill(plain, init, generator), filled)
        untouched.check(init)
    return model


def _draw(path: str, module: nn.Module, by: Callable[[nn.Module], object], drawn: set[int]) -> None:
    """Draws one layer, except what another layer has drawn already because both share it."""
    own = own_parameters(module).values()
    kept = [(parameter, parameter.detach().clone()) for parameter in own if id(parameter) in drawn]
    if derives(module):
        plain = plain_copy(module)
        by(plain)
        put_back(path, module, plain)
    else:
        by(module)
    for parameter, before in kept:
        parameter.copy_(before)
    drawn.update(map(id, own))


def _reset(module: nn.Module) -> None:
    # attention spells it with an underscore
    reset = getattr(module, "reset_parameters", None) or getattr(module, "_reset_parameters", None)
    if callable(reset):
        reset()


def _fill(module: nn.Module, init: Law, generator: Generator | None) -> None:
    own = own_parameters(module)
    if not any(tensor.ndim > 1 for tensor in own.values()):
        return  # normalisation and the like
    for name, tensor in own.items():
        if tensor.ndim > 1:
            _fill_weight(init, tensor, generator)
        elif "bias" in name:
            tensor.zero_()
    if isinstance(module, nn.Embedding | nn.EmbeddingBag) and module.padding_idx is not None:
        module.weight[module.padding_idx] = 0


def _fill_weight(init: Law, weight: Tensor, generator: Generator | None) -> None:
    # on another device the numbers come from that device's own state, which is seeded from the generator
    here = generator is None or generator.device.type == weight.device.type
    filled = init(weight, generator=generator) if here and _takes_generator(init) else init(weight)
    name = getattr(init, "__name__", init)
    if isinstance(filled, Tensor) and filled.data_ptr() != weight.data_ptr():
        raise PenstockError(
            f"init={name} returns a new tensor, and a law fills the weight that it is given; write it with "
            "operations in place, such as weight.normal_()"
        )
    if not bool(torch.isfinite(weight).all()):
        raise PenstockError(
            f"init={name} filled a weight with what is not finite; give a law of finite numbers"
        )


def _takes_generator(init: Law) -> bool:
    try:
        return "generator" in inspect.signature(init).parameters
    except (TypeError, ValueError):
        return False


def _weighty(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    inside = set()
    for path, module in layers(model):
        if isinstance(module, ParametrizationList):
            inside.update(module.modules())
        elif module not in inside:
            yield path, module


def _inside_out(model: nn.Module) -> list[tuple[str, nn.Module]]:
    """Every layer after the ones inside it, as they were made: an outer one may draw for its children."""
    order: list[tuple[str, nn.Module]] = []
    for path, module in _weighty(model):
        place = len(order)
        while place and _is_around(order[place - 1][0], path):
            place -= 1
        order.insert(place, (path, module))
    return order


def _is_around(outer: str, inner: str) -> bool:
    return not outer or inner == outer or inner.startswith(f"{outer}.")


class _Untouched:
    """The parameters that nobody has drawn."""

    def __init__(self, model: nn.Module):
        self._found = [
            (path, module, name, tensor, tensor._version, tensor.detach().clone())
            for path, module in _weighty(model)
            for name, tensor in own_parameters(module).items()
        ]

    def check(self, init: Law | None) -> None:
        way_out = "" if init is not None else ", or a law: init=torch.nn.init.xavier_uniform_"
        for path, module, name, tensor, version, before in self._found:
            # what writes into .data raises no version
            if tensor._version == version and torch.equal(tensor, before):
                raise PenstockError(
                    f"{describe(path, module)} has a parameter {name} of its own and no reset_parameters "
                    f"that draws it, so nobody knows how to draw it afresh; give it that method{way_out}"
                )


def _drawing_from(generator: Generator | None) -> AbstractContextManager[None]:
    """Layers draw from torch's global state: seeded from the generator inside, and put back afterwards."""
    if generator is None:
        return nullcontext()
    return _seeded(int(torch.randint(2**63 - 1, (), generator=generator, device=generator.device)))


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
