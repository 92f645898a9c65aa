"""Random weights in modules of given widths; one module an architecture and dtype, so it is read once."""

from functools import cache

import torch
from hypothesis import strategies as st
from torch import Tensor, nn

from networks.fully_connected import fully_connected

WIDTHS = [(1, 3, 1), (2, 2, 1), (3, 4, 1), (2, 3, 3, 1), (3, 2, 4, 1), (2, 2, 3, 2, 1)]

widths = st.sampled_from(WIDTHS)
dtypes = st.sampled_from([torch.float64, torch.float32])
seeds = st.integers(0, 2**31 - 1)


@cache
def architecture(widths: tuple[int, ...], bias: bool, dtype: torch.dtype) -> nn.Sequential:
    return fully_connected(*widths, bias=bias, dtype=dtype)


def drawn(
    widths: tuple[int, ...], seed: int, *, bias: bool = False, dtype: torch.dtype = torch.float64
) -> nn.Sequential:
    """Standard normal weights and biases; a second call with these widths draws the same module anew."""
    model = architecture(widths, bias, dtype)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(generator=generator)
    return model


def inputs(
    shape: tuple[int, ...], seed: int, examples: int = 3, dtype: torch.dtype = torch.float64
) -> Tensor:
    """Standard normal: no entry is zero."""
    return torch.randn(examples, *shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def tolerance(dtype: torch.dtype) -> float:
    """What sums of a few hundred terms may be apart by, as a share of the largest."""
    return 1000 * torch.finfo(dtype).eps


def agree(found: Tensor, expected: Tensor, size: Tensor | None = None) -> bool:
    """Equal but for rounding; `size` where the terms that were added up are larger than their sum."""
    scale = (expected.abs().max() if size is None else size).double()
    return bool((found.double() - expected.double()).abs().max() <= tolerance(found.dtype) * scale + 1e-300)
