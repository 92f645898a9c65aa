"""A signal passed through gates that stay packed, with its derivative: the price of a ReLU.

Without Numba, off the CPU, and under torch's transformations the gates are unpacked, and the result is the
same.
"""

from typing import Any

import torch
from jaxtyping import Float, Int64
from numpy.typing import NDArray
from torch import Tensor
from torch._C._functorch import (  # pyright: ignore[reportMissingImports]
    is_functorch_wrapped_tensor,
    is_legacy_batchedtensor,
)
from torch.autograd import forward_ad

from penstock import compiled
from penstock.gates.packed import WORTH_COMPILING, unpack

__all__ = ["compiled_takes", "flat", "is_wrapped", "masked"]

_DTYPES = (torch.float32, torch.float64)


def compiled_takes(q: Tensor) -> bool:
    """Whether compiled code can take this signal, and gains by it: it is large, lies whole in the CPU's
    memory, and nobody but autograd traces what happens to it.
    """
    return (
        q.numel() >= WORTH_COMPILING
        and q.device.type == "cpu"
        and q.dtype in _DTYPES
        and type(q) in (Tensor, torch.nn.Parameter)
        and q.is_contiguous()
        and not torch.compiler.is_compiling()
        and not is_wrapped(q)
        and forward_ad._current_level < 0
        and compiled.available()
    )


def is_wrapped(tensor: Tensor) -> bool:
    """Whether one tensor stands for many here: under `torch.func`, or in autograd's batched gradients."""
    return is_functorch_wrapped_tensor(tensor) or is_legacy_batchedtensor(tensor)


def masked(
    q: Float[Tensor, "n *shape"], words: Int64[Tensor, "n words"], shut: float | int
) -> Float[Tensor, "n *shape"]:
    """q where its gate is open, and `shut` times q elsewhere. Only where `compiled_takes(q)`."""
    apply: Any = _Masked.apply
    return apply(q, words, float(shut))


class _Masked(torch.autograd.Function):
    """Linear in q, with one and the same operation as its derivative."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, words: Tensor, shut: float) -> Tensor:
        ctx.save_for_backward(words)
        ctx.shut = shut
        return _mask(q, words, shut)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (words,), (gradient,) = ctx.saved_tensors, gradients
        if is_wrapped(gradient):  # many gradients at once
            bits = unpack(words, gradient[0].numel()).reshape(gradient.shape)
            return torch.where(bits, gradient, gradient * ctx.shut if ctx.shut else 0.0), None, None
        return masked(gradient, words, ctx.shut), None, None


def flat(tensor: Tensor) -> NDArray[Any]:
    """A tensor's numbers in a row, as compiled code takes them; copied only where they do not lie so."""
    return tensor.detach().contiguous().reshape(-1).numpy()


def _mask(q: Tensor, words: Tensor, shut: float) -> Tensor:
    from penstock.compiled.masking import mask_packed

    # a gradient may lie in memory in any way
    out = torch.empty_like(q, memory_format=torch.contiguous_format)
    rows = (flat(each).reshape(len(q), -1) for each in (q, out))
    mask_packed(next(rows), words.numpy(), shut, next(rows))
    return out
