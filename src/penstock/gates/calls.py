"""Which of torch's functions are ReLU-like, and what each call of one means as gates.

Every function stands here once, by its name, whatever the form it is written in: `torch.relu`, `F.relu`,
`q.relu()`, `q.relu_()` and `torch.ops.aten.relu` are all `relu`. A reading takes the arguments of the call
and says the kind of its gates, or None where this call is no gate (`clamp` anywhere else than at 0).
"""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._ops import OpOverload, OpOverloadPacket

from penstock.errors import PenstockError
from penstock.gates.given import Given, multiplied
from penstock.gates.kinds import AdaptiveChoice, Choice, Clipped, Kind, Magnitude, Rectifier, Smooth

__all__ = ["Call", "Reading", "is_activation", "reading_of"]


@dataclass(frozen=True)
class Call:
    """One call of a ReLU-like function. Without a kind, this call is no gate."""

    kind: Kind | None
    q: Tensor
    inplace: bool
    indices: bool
    """Whether the places of the maxima are asked for beside them."""
    out: Tensor | None
    function: str
    """The name of the function."""


@dataclass(frozen=True)
class Reading:
    """One ReLU-like function of torch in one of its forms."""

    function: str
    """Its name, without the underscore of the in-place form."""
    inplace: bool
    means: Callable[..., Kind | None]
    signature: inspect.Signature
    pairs: bool = False
    """Whether this form always returns the places of the maxima beside them."""

    def read(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | None:
        """The call with these arguments, or None where they cannot be read."""
        kwargs = dict(kwargs)
        out = kwargs.pop("out", None)
        if "self" in kwargs:
            kwargs["input"] = kwargs.pop("self")
        # torch knows these two under NumPy's names as well
        for numpys, torchs in (("a_min", "min"), ("a_max", "max")):
            if numpys in kwargs:
                kwargs[torchs] = kwargs.pop(numpys)
        try:
            given = self.signature.bind(*args, **kwargs).arguments
        except TypeError:
            return None
        if not isinstance(given["input"], Tensor):
            return None
        inplace = self.inplace or bool(given.get("inplace"))
        kind = self.means(**given)
        return Call(
            kind,
            given["input"],
            inplace,
            self.pairs or bool(given.get("return_indices")),
            out,
            kind.function if isinstance(kind, Given) else self.function,
        )


def reading_of(function: Any) -> Reading | None:
    """How to read a call of this function, or None where it is not ReLU-like."""
    try:
        return _READINGS.get(function)
    except TypeError:
        return None


def is_activation(module: nn.Module) -> bool:
    """Whether the module is one of torch's own activations or poolings: its call is named by its path
    alone."""
    forward = getattr(type(module), "forward", None)
    return getattr(forward, "__module__", "") in ("torch.nn.modules.activation", "torch.nn.modules.pooling")


def _relu(input: Tensor, inplace: bool = False) -> Kind:
    return Rectifier()


def _leaky_relu(input: Tensor, negative_slope: float | int = 0.01, inplace: bool = False) -> Kind:
    return Rectifier(float(negative_slope))


def _prelu(input: Tensor, weight: Tensor) -> Kind:
    return Rectifier(weight)


def _rrelu(
    input: Tensor,
    lower: float | int = 1 / 8,
    upper: float | int = 1 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Kind:
    if training and lower != upper:
        raise PenstockError("rrelu draws its slopes at random in training mode; call model.eval() first")
    return Rectifier((float(lower) + float(upper)) / 2)


def _threshold(
    input: Tensor, threshold: float | int, value: float | int, inplace: bool = False
) -> Kind | None:
    return Rectifier() if threshold == 0 and value == 0 else None


def _clamp(input: Tensor, min: Any = None, max: Any = None) -> Kind | None:
    if not isinstance(min, Real) or min != 0 or not (max is None or isinstance(max, Real)):
        return None
    if max is None or max == math.inf:
        return Rectifier()
    return Clipped(0.0, float(max)) if float(max) > 0 else None


def _clamp_min(input: Tensor, min: Any) -> Kind | None:
    return _clamp(input, min)


def _abs(input: Tensor) -> Kind:
    return Magnitude()


def _hardtanh(
    input: Tensor, min_val: float | int = -1.0, max_val: float | int = 1.0, inplace: bool = False
) -> Kind:
    return Clipped(float(min_val), float(max_val))


def _relu6(input: Tensor, inplace: bool = False) -> Kind:
    return Clipped(0.0, 6.0)


def _silu(input: Tensor, inplace: bool = False) -> Kind:
    return Smooth.silu()


def _gelu(input: Tensor, approximate: str = "none") -> Kind:
    return Smooth.gelu("tanh" if approximate == "tanh" else "none")


def _multiplied(input: Tensor, given: Given) -> Kind:
    return given


def _max_pool(dims: int) -> Callable[..., Kind]:
    def means(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Kind:
        return Choice.of(dims, kernel_size, stride, padding, dilation, ceil_mode)

    return means


def _adaptive_max_pool(dims: int) -> Callable[..., Kind]:
    def means(input: Tensor, output_size: Any, return_indices: bool = False) -> Kind:
        return AdaptiveChoice.of(dims, output_size)

    return means


# function → (what it means, the names it has in torch)
_FUNCTIONS: dict[str, tuple[Callable[..., Kind | None], tuple[str, ...]]] = {
    "relu": (_relu, ("relu", "relu_")),
    "leaky_relu": (_leaky_relu, ("leaky_relu", "leaky_relu_")),
    "prelu": (_prelu, ("prelu", "_prelu_kernel")),
    "rrelu": (_rrelu, ("rrelu", "rrelu_")),
    "threshold": (_threshold, ("threshold", "_threshold", "threshold_")),
    "clamp": (_clamp, ("clamp", "clamp_")),
    "clip": (_clamp, ("clip", "clip_")),
    "clamp_min": (_clamp_min, ("clamp_min", "clamp_min_")),
    "abs": (_abs, ("abs", "abs_", "__abs__")),
    "absolute": (_abs, ("absolute", "absolute_")),
    "hardtanh": (_hardtanh, ("hardtanh", "hardtanh_")),
    "relu6": (_relu6, ("relu6", "relu6_")),
    "silu": (_silu, ("silu", "silu_")),
    "gelu": (_gelu, ("gelu", "gelu_")),
    **{f"max_pool{d}d": (_max_pool(d), (f"max_pool{d}d", f"max_pool{d}d_with_indices")) for d in (1, 2, 3)},
    **{
        f"adaptive_max_pool{d}d": (
            _adaptive_max_pool(d),
            (f"adaptive_max_pool{d}d", f"adaptive_max_pool{d}d_with_indices"),
        )
        for d in (1, 2, 3)
    },
}


def _readings() -> dict[Any, Reading]:
    """Every form of every function, as a `TorchFunctionMode` is handed it."""
    builtin: Any = torch._C
    homes = (torch, torch.Tensor, builtin._nn, builtin._VariableFunctions)
    readings: dict[Any, Reading] = {}
    for function, (means, names) in _FUNCTIONS.items():
        signature = inspect.signature(means)
        for name in names:
            inplace = name.endswith("_") and not name.endswith("__")
            pairs = "with_indices" in name
            forms = [getattr(home, name) for home in homes if hasattr(home, name)]
            for form in (*forms, *_operators(name)):
                # below `torch.nn.functional`, adaptive pooling has no form without indices
                readings[form] = Reading(function, inplace, means, signature, pairs or "adaptive" in name)
            if hasattr(F, name):
                readings[getattr(F, name)] = Reading(function, inplace, means, signature, pairs)
    readings[multiplied] = Reading("multiplied", False, _multiplied, inspect.signature(_multiplied))
    return readings


def _operators(name: str) -> list[OpOverload | OpOverloadPacket]:
    """`torch.ops.aten`'s operator of this name, as exported programs call it."""
    packet = getattr(torch.ops.aten, name, None)
    if not isinstance(packet, OpOverloadPacket):
        return []
    return [packet, *(getattr(packet, overload) for overload in packet.overloads())]


# made once and for all, and no cached function: dynamo follows a look into a dictionary
_READINGS = _readings()
