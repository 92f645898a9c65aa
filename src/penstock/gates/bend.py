"""Where a network bends: the first call whose output is not affine in the input."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import torch
from jaxtyping import Float64, Shaped
from torch import Tensor, nn

from penstock.errors import PenstockError
from penstock.gates.holding import Holding
from penstock.model import describe

__all__ = ["first_bend"]

_TOLERANCE = 1e-9
_ROUNDING = 1e-13


def first_bend(
    model: nn.Module,
    patterns: Mapping[str, Shaped[Tensor, "..."]],
    x: Float64[Tensor, "1 *shape"],
    u: Float64[Tensor, "1 *shape"],
) -> str:
    """The first call of the model that bends between x - u and x + u with its gates held, as the subject of a
    sentence."""
    try:
        tracing = _Tracing(model, patterns)
        traces = [tracing.traced(point) for point in (x, x + u, x - u)]
    except (PenstockError, RuntimeError):
        # a model that cannot take one row alone, or goes another way for it
        return describe("", model)
    for at, plus, minus in zip_longest(*traces):
        if at is None or plus is None or minus is None or not at.place == plus.place == minus.place:
            return f"the control flow of {describe('', model)}"
        if any(map(_bends, at.outputs, plus.outputs, minus.outputs)):
            return at.place
    return describe("", model)


def _bends(at: Tensor, plus: Tensor, minus: Tensor) -> bool:
    if not at.shape == plus.shape == minus.shape:
        return True
    bent = torch.linalg.vector_norm(plus + minus - 2 * at)
    moved = torch.linalg.vector_norm(plus - minus)
    size = sum(torch.linalg.vector_norm(value) for value in (at, plus, minus))
    # a comparison that NaN fails too
    return not bool(bent <= _TOLERANCE * moved + _ROUNDING * size)


@dataclass(frozen=True)
class _Output:
    """What one call returned, and where it stands."""

    place: str
    outputs: list[Tensor]


class _Tracing(Holding):
    """Keeps what every call of one of torch's functions returns."""

    def __init__(self, model: nn.Module, patterns: Mapping[str, Tensor]):
        super().__init__(model, patterns)
        self.trace: list[_Output] = []

    def traced(self, x: Tensor) -> list[_Output]:
        self.trace = []
        self.run(x)
        return self.trace

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        outermost = not self.explaining
        result = super().__torch_function__(function, types, args, kwargs)
        if outermost:
            several = result if isinstance(result, tuple | list) else (result,)
            outputs = [
                each.detach().double().clone()
                for each in several
                if isinstance(each, Tensor) and each.is_floating_point()
            ]
            if outputs:
                self.trace.append(_Output(self._place(function), outputs))
        return result

    def _place(self, function: Any) -> str:
        path, layer = self.names.layer()
        if (
            layer is not None
            and path
            and type(layer).__module__.startswith("torch.nn.modules.")
            and not layer._modules
        ):
            return describe(path, layer)
        name = getattr(function, "__name__", "")
        if name == "__get__":
            name = getattr(function.__self__, "__name__", name)
        return f"the call of {self.names.place(name.strip('_'))}"
