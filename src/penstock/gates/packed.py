"""Gates as bits: 64 in a word, the first gate in the lowest bit, the last word filled up with zeros."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from penstock import compiled

__all__ = ["count_bits", "join_bits", "pack", "pack_positive", "unpack"]

WORD = 64

# A word holds eight bools of a byte each; this multiplier moves the lowest bit of byte i to bit 56 + i.
_GATHER = 0x0102040810204080

# Below so many gates, compiled code costs more than it saves.
WORTH_COMPILING = 1 << 20

# The bits of infinity in the types that NumPy lacks or is slow with.
_INFINITY = {torch.float16: 0x7C00, torch.bfloat16: 0x7F80}


def pack(bits: Bool[Tensor, "n m"]) -> Int64[Tensor, "n words"]:
    """The rows of `bits`, 64 to a word. On any device.

    >>> pack(torch.tensor([[True, False, True]]))
    tensor([[5]])
    """
    n, m = bits.shape
    if m % WORD:
        padded = bits.new_zeros(n, m + -m % WORD)
        padded[:, :m] = bits
        bits = padded
    if not m:
        return torch.zeros(n, 0, dtype=torch.int64, device=bits.device)
    bits = bits.contiguous()
    if bits.storage_offset() % 8:
        bits = bits.clone()
    eight = bits.view(torch.int64).mul(_GATHER)
    return eight.bitwise_right_shift_(56).to(torch.uint8).view(torch.int64)


def pack_positive(q: Float[Tensor, "n *shape"]) -> Int64[Tensor, "n words"]:
    """The gates of a ReLU, `q > 0` (N Table 1); in one pass where q is large, on the CPU, and Numba there."""
    if (
        q.numel() < WORTH_COMPILING
        or q.device.type != "cpu"
        or not q.is_contiguous()
        or not compiled.available()
    ):
        return pack((q > 0).reshape(len(q), -1))
    from penstock.compiled.packing import pack_between

    rows, most = q.detach().reshape(len(q), -1), math.inf
    if q.dtype in _INFINITY:
        # positive numbers, infinity and then NaN: as integers they stand in the same order
        rows, most = rows.view(torch.int16), _INFINITY[q.dtype]
    words = torch.empty(len(q), -(-rows.shape[1] // WORD), dtype=torch.int64)
    pack_between(rows.numpy(), most, words.numpy(), torch.get_num_threads())
    return words


def unpack(words: Int64[Tensor, "n words"], m: int) -> Bool[Tensor, "n {m}"]:
    """The first `m` gates of every row: `unpack(pack(bits), bits.shape[1])` is `bits`."""
    octets = words.contiguous().view(torch.uint8)
    place = torch.arange(8, device=words.device, dtype=torch.uint8)
    bits = (octets.unsqueeze(-1) >> place) & 1
    return bits.view(torch.bool).flatten(1)[:, :m].contiguous()


def count_bits(words: Int64[Tensor, "n words"]) -> Int64[Tensor, " n"]:
    """The number of open gates in every row."""
    # pairs, then fours, then bytes; a shift that drags the sign bit along is masked right after
    pairs = words - ((words >> 1) & 0x5555555555555555)
    fours = (pairs & 0x3333333333333333) + ((pairs >> 2) & 0x3333333333333333)
    eights = (fours + (fours >> 4)) & 0x0F0F0F0F0F0F0F0F
    return ((eights * 0x0101010101010101) >> 56).sum(1)


def join_bits(
    words: Int64[Tensor, "n words"], operation: Callable[[Tensor, Tensor], Tensor]
) -> Int64[Tensor, " words"]:
    """All rows joined into one by `torch.bitwise_or` or `torch.bitwise_and`, two halves at a time."""
    while len(words) > 1:
        half = len(words) // 2
        odd = words[2 * half :]
        words = torch.cat([operation(words[:half], words[half : 2 * half]), odd])
    return words[0]
