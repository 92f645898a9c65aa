"""Where a model's numbers are: one device, one floating dtype."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from penstock.errors import PenstockError
from penstock.model.parts import describe, layers

__all__ = ["Placement", "placement"]


@dataclass(frozen=True)
class Placement:
    """`device` and `dtype` of a model's parameters; None where it has none that says."""

    device: torch.device | None
    dtype: torch.dtype | None


def placement(model: nn.Module) -> Placement:
    """The one device and the one floating dtype that inputs must have; more than one is refused, so are
    complex numbers.

    Parameters say the dtype, and buffers where there are no floating parameters: buffers of another dtype
    (counters, tables of frequencies) are the model's own affair.
    """
    _initialized(model)
    parameters, buffers = list(model.named_parameters()), list(model.named_buffers())
    for name, tensor in (*parameters, *buffers):
        if tensor.is_complex():
            raise PenstockError(
                f"{name} is {tensor.dtype}, and gates and paths are defined for real numbers only; split it "
                "into its real and its imaginary part"
            )
    device = _only_one(
        "device", [(name, tensor.device) for name, tensor in (*parameters, *buffers) if tensor.ndim]
    )
    if device is not None and device.type == "meta":
        raise PenstockError(
            "the model is on the meta device, where tensors have no numbers; load its weights first"
        )
    dtype = _only_one("dtype", _floating(parameters)) or _only_one("dtype", _floating(buffers))
    return Placement(device, dtype)


def _initialized(model: nn.Module) -> None:
    for path, module in layers(model):
        own = (*module._parameters.values(), *module._buffers.values())
        if any(tensor is not None and is_lazy(tensor) for tensor in own):
            raise PenstockError(
                f"{describe(path, module)} has no weights before its first input; call model(x) once on an "
                "example"
            )


def _floating(named: Iterable[tuple[str, Tensor]]) -> Iterator[tuple[str, torch.dtype]]:
    return ((name, tensor.dtype) for name, tensor in named if tensor.is_floating_point())


_Where = TypeVar("_Where", torch.device, torch.dtype)


def _only_one(what: str, named: Iterable[tuple[str, _Where]]) -> _Where | None:
    first: tuple[str, _Where] | None = None
    for name, value in named:
        if first is None:
            first = name, value
        elif value != first[1]:
            to = first[1] if isinstance(first[1], torch.dtype) else repr(str(first[1]))
            raise PenstockError(
                f"the model has more than one {what}: {first[0]} has {first[1]} and {name} has {value}; "
                f"bring it to one with model.to({to})"
            )
    return None if first is None else first[1]
