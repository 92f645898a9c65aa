"""Soft gates that learn: their values, and a way back to the pre-activations, in few passes over memory.

What costs time in a decoupled network beside its two networks is memory: each operation on a layer writes
one more tensor of the layer's size. So a gate is computed in place, and its derivative together with the
product's, from the value that is there anyway. The pre-activation itself is not kept, and may be overwritten:
a *stub*, of its shape and without memory, stands for it in autograd's graph.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from penstock.gates.gate import Soft
from penstock.gates.masking import compiled_takes, is_wrapped

__all__ = ["Learnt", "learns", "learnt", "learnt_beside_relu"]


@dataclass(frozen=True, eq=False)
class Learnt:
    """The gates of one layer."""

    value: Float[Tensor, "n *shape"]
    """G(q) = top · σ(steep · q), detached."""
    stub: Float[Tensor, "n *shape"]
    """What leads back to q."""
    steep: float
    top: float

    @property
    def pattern(self) -> Float[Tensor, "n *shape"]:
        """The values as autograd knows them."""
        return _applied(_Gate, self.stub, self.value, self.steep, self.top)

    def times(self, signal: Float[Tensor, "n *shape"]) -> Float[Tensor, "n *shape"]:
        """The signal times the gates."""
        if not compiled_takes(signal):
            return signal * self.pattern
        return _applied(_Product, signal, self.stub, self.value, self.steep, self.top)


def learns(q: Tensor) -> bool:
    """Whether a soft gate of this pre-activation is best kept so."""
    return q.requires_grad and torch.is_grad_enabled() and compiled_takes(q)


def learnt(gate: Soft, q: Float[Tensor, "n *shape"]) -> Learnt:
    """The gates that q opens. Only where `learns(q)`."""
    return _learnt(gate, q, _applied(_Stub, q))


def learnt_beside_relu(gate: Soft, q: Float[Tensor, "n *shape"]) -> tuple[Learnt, Float[Tensor, "n *shape"]]:
    """The gates that q opens, and relu(q), whose two ways back to q are one. Only where `learns(q)`."""
    output, stub = _applied(_ReLU, q)
    return _learnt(gate, q, stub), output


def _learnt(gate: Soft, q: Tensor, stub: Any) -> Learnt:
    top = 1 + gate.epsilon
    value = (q.detach() * gate.beta).sigmoid_().mul_(top)
    return Learnt(value, stub, float(gate.beta), float(top))


def _is_traced(*gradients: Tensor) -> bool:
    """Whether a backward pass is itself differentiated, or is one of many at once."""
    return torch.is_grad_enabled() or any(map(is_wrapped, gradients))


def _applied(function: Any, *arguments: Any) -> Any:
    return function.apply(*arguments)


def _times_slope(part: Tensor, value: Tensor, steep: float, top: float) -> Tensor:
    """part · steep · (1 - value / top), in one new tensor."""
    return torch.addcmul(part, part, value, value=-1 / top).mul_(steep)


class _Stub(torch.autograd.Function):
    """Nothing of the shape of q, through which gradients go back to it."""

    @staticmethod
    def forward(ctx: Any, q: Tensor) -> Tensor:
        return q.new_zeros(()).expand(q.shape)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        return gradients[0]


class _ReLU(torch.autograd.Function):
    """relu(q), and a stub of q."""

    @staticmethod
    def forward(ctx: Any, q: Tensor) -> tuple[Tensor, Tensor]:
        output = torch.relu(q)
        ctx.save_for_backward(output)
        return output, q.new_zeros(()).expand(q.shape)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (output,), (by_output, by_stub) = ctx.saved_tensors, gradients
        if _is_traced(by_output, by_stub):
            return torch.where(output > 0, by_output, 0.0) + by_stub
        return torch.ops.aten.threshold_backward(by_output, output, 0).add_(by_stub)


class _Gate(torch.autograd.Function):
    """The values of gates, from a stub."""

    @staticmethod
    def forward(ctx: Any, stub: Tensor, value: Tensor, steep: float, top: float) -> Tensor:
        ctx.save_for_backward(stub, value)
        ctx.steep, ctx.top = steep, top
        return value.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (stub, value), (gradient,) = ctx.saved_tensors, gradients
        if _is_traced(gradient):
            gate = _applied(_Gate, stub, value, ctx.steep, ctx.top)
            return gradient * gate * (ctx.steep - ctx.steep / ctx.top * gate), None, None, None
        return _times_slope(gradient * value, value, ctx.steep, ctx.top), None, None, None


class _Product(torch.autograd.Function):
    """A signal times gates, from the gates' values and a stub."""

    @staticmethod
    def forward(ctx: Any, signal: Tensor, stub: Tensor, value: Tensor, steep: float, top: float) -> Tensor:
        ctx.save_for_backward(signal, stub, value)
        ctx.steep, ctx.top = steep, top
        return signal * value

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (signal, stub, value), (gradient,) = ctx.saved_tensors, gradients
        if _is_traced(gradient):
            gate = _applied(_Gate, stub, value, ctx.steep, ctx.top)
            part = gradient * gate
            return part, part * signal * (ctx.steep - ctx.steep / ctx.top * gate), None, None, None
        by_signal = gradient * value
        by_q = _times_slope(by_signal * signal, value, ctx.steep, ctx.top)
        return by_signal, by_q, None, None, None
