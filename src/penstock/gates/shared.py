"""How many gates two inputs share: τ(s, s′) = Σᵢ G_s(i) G_s′(i), and Λ = Π_l τ_l (N Definition C.2).

Counted from packed words where Numba is there and the words lie on the CPU, and elsewhere as products of
matrices of zeros and ones, which are exact as well.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from penstock import compiled
from penstock.errors import PenstockError
from penstock.gates.packed import WORD, unpack

__all__ = ["shared_counts", "shared_products"]


def shared_counts(
    words: Int64[Tensor, "n words"], others: Int64[Tensor, "m words"] | None = None
) -> Int64[Tensor, "n m"]:
    """τ of one layer: the gates that each row of `words` shares with each row of `others`, or with each
    other.

    >>> shared_counts(torch.tensor([[0b011], [0b110]]))
    tensor([[2, 1],
            [1, 2]])
    """
    return _multiply([words], None if others is None else [others], torch.int64)


def shared_products(
    layers: Sequence[Int64[Tensor, "n _"]], others: Sequence[Int64[Tensor, "m _"]] | None = None
) -> Float64[Tensor, "n m"]:
    """Λ: the counts of all layers multiplied, in one pass. Exact up to 2⁵³, and rounded to float64 beyond."""
    if not layers:
        raise PenstockError("there are no layers to count shared gates in")
    return _multiply(layers, others, torch.float64)


def _multiply(layers: Sequence[Tensor], others: Sequence[Tensor] | None, dtype: torch.dtype) -> Tensor:
    for mine, its in zip(layers, layers if others is None else others, strict=True):
        if mine.shape[1] != its.shape[1]:
            raise PenstockError(
                f"gates of {mine.shape[1]} words cannot be shared with gates of {its.shape[1]} words; "
                "both sets of inputs must come from one layer"
            )
    if compiled.available() and all(words.device.type == "cpu" for words in [*layers, *(others or [])]):
        return _by_popcount(layers, others, dtype)
    return _by_matmul(layers, others, dtype)


def _by_popcount(layers: Sequence[Tensor], others: Sequence[Tensor] | None, dtype: torch.dtype) -> Tensor:
    from penstock.compiled.popcount import multiply_counts

    # NumPy asks for huge pages, which are a quarter of the cost of a large result
    across = layers if others is None else others
    out = np.empty((len(layers[0]), len(across[0])), np.int64 if dtype == torch.int64 else np.float64)
    theirs = None if others is None else [words.numpy() for words in others]
    multiply_counts([words.numpy() for words in layers], theirs, out, torch.get_num_threads())
    return torch.from_numpy(out)


# Gates of one product of matrices: sums of so many ones are exact in float32, TensorFloat-32 or not.
_GATES = 16384


def _by_matmul(layers: Sequence[Tensor], others: Sequence[Tensor] | None, dtype: torch.dtype) -> Tensor:
    across = layers if others is None else others
    out = torch.empty(len(layers[0]), len(across[0]), dtype=dtype, device=layers[0].device)
    # a GPU wants much work at a time, a CPU a tile that its caches hold
    step = 4096 if out.is_cuda else 1024
    with torch.autocast(out.device.type, enabled=False):
        for top in range(0, out.shape[0], step):
            rows = slice(top, top + step)
            for left in range(top if others is None else 0, out.shape[1], step):
                columns = slice(left, left + step)
                tile = torch.ones_like(out[rows, columns])
                for mine, its in zip(layers, across, strict=True):
                    tile *= _count_tile(mine[rows], its[columns])
                out[rows, columns] = tile
                if others is None:
                    out[columns, rows] = tile.T
    return out


def _count_tile(mine: Tensor, its: Tensor) -> Tensor:
    counts = torch.zeros(len(mine), len(its), dtype=torch.int64, device=mine.device)
    for first in range(0, mine.shape[1], _GATES // WORD):
        chunk = slice(first, first + _GATES // WORD)
        a, b = (unpack(words[:, chunk], WORD * words[:, chunk].shape[1]) for words in (mine, its))
        counts += _product(a, b).long()
    return counts


def _product(a: Tensor, b: Tensor) -> Tensor:
    if a.is_cuda and torch.version.hip is None:
        # ten times as fast as float32, and summed in float32 all the same
        return torch.mm(a.half(), b.half().T, out_dtype=torch.float32)
    return a.float() @ b.float().T
