"""The largest entry of each unit's gradient by all parameters, without the gradients where that is possible.

A linear layer's weight moves a unit by what comes back to the layer's output times what stands at its input,
so over all its weights the largest is a product of two maxima. What is used in any other way (convolutions,
normalisation, a weight used twice) is asked one example at a time.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from penstock.decoupled.sensing import LinearUse, Sensing

__all__ = ["largest_gradients"]

# Units whose gradients are taken together.
_AT_ONCE = 64
_ROUNDING = {torch.float64: 1e-9}


def largest_gradients(sensing: Sensing, q: Float[Tensor, "n *shape"]) -> Float[Tensor, "n *shape"]:
    """max_θ |∂q/∂θ| of every unit, for each example."""
    uses = _whole_uses(sensing, q)
    covered = {id(tensor) for use in uses for tensor in (use.weight, use.bias)}
    others = [p for p in sensing.model.parameters() if p.requires_grad and id(p) not in covered]
    units = q.flatten(1)
    parts = [
        _by_uses(units, part, uses) for part in torch.arange(units.shape[1], device=q.device).split(_AT_ONCE)
    ]
    largest = torch.cat(parts, dim=1)
    if others:
        for row in range(len(q)):
            largest[row] = torch.maximum(largest[row], _by_parameters(units[row], others))
    return largest.reshape(q.shape)


def _by_uses(units: Float[Tensor, "n units"], part: Tensor, uses: list[LinearUse]) -> Float[Tensor, "n part"]:
    """Over the weights and biases of linear layers; for all examples at once, since they do not mix."""
    largest = units.new_zeros(len(units), len(part))
    one_hot = torch.zeros(len(part), *units.shape, dtype=units.dtype, device=units.device)
    one_hot[torch.arange(len(part)), :, part] = 1
    outputs = [use.output for use in uses]
    back = _gradients(units, outputs, one_hot)
    for use, cotangent in zip(uses, back, strict=True):
        if cotangent is None:
            continue
        coming = cotangent.abs().amax(-1).T
        largest = torch.maximum(largest, coming * use.input.abs().amax(1, keepdim=True))
        if use.bias is not None:
            largest = torch.maximum(largest, coming)
    return largest


def _by_parameters(units: Float[Tensor, " units"], parameters: Sequence[Tensor]) -> Float[Tensor, " units"]:
    """Over any parameters, for one example."""
    largest = torch.zeros_like(units)
    for part in torch.arange(len(units), device=units.device).split(_AT_ONCE):
        one_hot = torch.zeros(len(part), len(units), dtype=units.dtype, device=units.device)
        one_hot[torch.arange(len(part)), part] = 1
        for gradient in _gradients(units, parameters, one_hot):
            if gradient is not None:
                largest[part] = torch.maximum(largest[part], gradient.abs().flatten(1).amax(1))
    return largest


def _whole_uses(sensing: Sensing, q: Tensor) -> list[LinearUse]:
    """The linear layers whose weights are used by `linear` once and in no other way: one gradient shows."""
    cotangent = torch.randn(q.shape, generator=torch.Generator().manual_seed(0)).to(q)
    times = [sum(other.weight is use.weight for other in sensing.uses) for use in sensing.uses]
    once = [
        use
        for use, count in zip(sensing.uses, times, strict=True)
        if count == 1 and use.weight.is_leaf and (use.bias is None or use.bias.is_leaf)
    ]
    whole = []
    for use in once:
        wanted = [use.output, use.weight, *([] if use.bias is None else [use.bias])]
        by_output, *own = _gradients(q, wanted, cotangent[None])
        if by_output is None or own[0] is None:
            if by_output is None and all(each is None for each in own):
                whole.append(use)  # it comes after the gate
            continue
        expected = [by_output[0].T @ use.input, by_output[0].sum(0)]
        whole.extend([use] if all(map(_same, own, expected)) else [])
    return whole


def _same(gradient: Tensor | None, expected: Tensor) -> bool:
    if gradient is None:
        return False
    rounding = _ROUNDING.get(expected.dtype, 1e-3) * expected.abs().max()
    return bool((gradient[0] - expected).abs().max() <= rounding)


def _gradients(y: Tensor, tensors: Sequence[Tensor], cotangents: Tensor) -> list[Tensor | None]:
    if not tensors or not y.requires_grad:
        return [None] * len(tensors)
    found = torch.autograd.grad(
        y, tensors, cotangents, is_grads_batched=True, retain_graph=True, allow_unused=True
    )
    return list(found)
