"""Networks that hide gates: by hand, behind a bias, in custom autograd Functions, in scripts."""

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

__all__ = [
    "AffineCustomFunction",
    "CustomFunction",
    "HandGates",
    "HiddenBehindBias",
    "Scripted",
    "ScriptedFunction",
]


class HandGates(nn.Module):
    """ReLUs written by hand, which no watch can tell from any other product or comparison."""

    FORMS: ClassVar[dict[str, Callable[[Tensor], Tensor]]] = {
        "mask": lambda q: q * (q > 0),
        "maximum": lambda q: torch.maximum(q, torch.zeros_like(q)),
        "where": lambda q: torch.where(q > 0, q, 0.0),
        "magnitude": lambda q: (q + (q * q).sqrt()) / 2,
        "fill": lambda q: q.masked_fill(q < 0, 0.0),
        "tensor_bound": lambda q: torch.clamp(q, min=torch.zeros(())),
    }

    def __init__(self, form: str, inputs: int = 4, width: int = 6):
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.middle = nn.Linear(width, width)
        self.last = nn.Linear(width, 2)
        self.form = self.FORMS[form]

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(self.first(x))
        return self.last(self.form(self.middle(h)))


class HiddenBehindBias(nn.Module):
    """A hidden gate whose bias outweighs its signal: it does not flip anywhere near x."""

    def __init__(self, width: int = 6, depth: int = 5, bias: float = 30.0):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        nn.init.constant_(self.layers[depth - 1].get_parameter("bias"), bias)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        q = self.layers[-1](x)
        return q * (q > 0)


class _Rectify(torch.autograd.Function):
    """ReLU as a custom autograd Function."""

    @staticmethod
    def forward(ctx, q: Tensor) -> Tensor:
        ctx.save_for_backward(q)
        return q * (q > 0)

    @staticmethod
    def backward(ctx, *gradients: Tensor) -> Tensor:
        (q,) = ctx.saved_tensors
        return gradients[0] * (q > 0)


class _Reverse(torch.autograd.Function):
    """Hides no gate: the identity, whose gradient is reversed."""

    @staticmethod
    def forward(ctx, q: Tensor) -> Tensor:
        return q.view_as(q)

    @staticmethod
    def backward(ctx, *gradients: Tensor) -> Tensor:
        return -gradients[0]


class CustomFunction(nn.Module):
    """Calls a custom autograd Function by a name that was taken before anybody watched, as is usual."""

    function: Callable[..., Any] = _Rectify.apply

    def __init__(self, inputs: int = 4, width: int = 6):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(inputs, width), nn.ReLU())
        self.last = nn.Linear(width, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.function(self.first(x) - 0.2))


class AffineCustomFunction(CustomFunction):
    """The same with a Function that hides no gate, which nobody can know."""

    function: Callable[..., Any] = _Reverse.apply


class Scripted(nn.Module):
    """A child that is scripted, or traced."""

    def __init__(self, traced: bool = False, width: int = 4):
        super().__init__()
        child = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        self.child: Any = torch.jit.trace(child, torch.randn(2, width)) if traced else torch.jit.script(child)
        self.last = nn.Sequential(nn.ReLU(), nn.Linear(width, 2))

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.child(x))


class ScriptedFunction(nn.Module):
    """No scripted layer: a scripted function inside a forward."""

    def __init__(self, function, width: int = 4):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        self.last = nn.Linear(width, 2)
        self.function: Any = torch.jit.script(function)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.function(self.first(x) - 0.2))
