"""Gates from their definitions, one gate and one pair of inputs at a time."""

from collections.abc import Sequence
from itertools import product
from math import ceil, floor

from torch import Tensor


def packed(bits: Sequence[Sequence[bool]]) -> list[list[int]]:
    """Rows of bits as rows of 64-bit words, the first bit of a word in its lowest place; signed, as torch's
    int64.
    """
    rows = []
    for row in bits:
        words = []
        for start in range(0, len(row), 64):
            word = 0
            for place, bit in enumerate(row[start : start + 64]):
                word += 2**place if bit else 0
            words.append(word - 2**64 if word >= 2**63 else word)
        rows.append(words)
    return rows


def shared(bits: Tensor, others: Tensor) -> list[list[int]]:
    """τ(s, s') = Σ_i G_s(i) G_s'(i) (N Definition C.2), for rows of gates."""
    rows, columns = bits.flatten(1).tolist(), others.flatten(1).tolist()
    return [[sum(1 for a, b in zip(mine, its, strict=True) if a and b) for its in columns] for mine in rows]


def differing(bits: Tensor, others: Tensor) -> list[int]:
    """In how many gates each row differs from the same row of the other."""
    rows = zip(bits.flatten(1).tolist(), others.flatten(1).tolist(), strict=True)
    return [sum(1 for a, b in zip(mine, its, strict=True) if a != b) for mine, its in rows]


def pooled(
    plane: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
):
    """Max-pooling of one plane: {output: (slot, position, value)} of the first of the largest in every
    window.

    Windows that start inside the plane or its padding and end inside either; slots are numbered row by row.
    """
    chosen = {}
    outs = [
        (size + 2 * p - d * (k - 1) - 1) // s + 1
        for size, k, s, p, d in zip(plane.shape, kernel, stride, padding, dilation, strict=True)
    ]
    for output in product(*map(range, outs)):
        best = None
        for slot, offset in enumerate(product(*map(range, kernel))):
            position = tuple(
                o * s - p + d * f
                for o, s, p, d, f in zip(output, stride, padding, dilation, offset, strict=True)
            )
            if all(0 <= at < size for at, size in zip(position, plane.shape, strict=True)):
                value = float(plane[position])
                if best is None or value > best[2]:
                    best = (slot, position, value)
        chosen[output] = best
    return chosen


def adaptively_pooled(plane: Tensor, outs: Sequence[int]):
    """Adaptive max-pooling of one plane: {output: value}; window o of w reaches from ⌊o·size/w⌋ to
    ⌈(o+1)·size/w⌉.
    """
    chosen = {}
    for output in product(*map(range, outs)):
        spans = [
            range(floor(o * size / out), ceil((o + 1) * size / out))
            for o, size, out in zip(output, plane.shape, outs, strict=True)
        ]
        chosen[output] = max(float(plane[position]) for position in product(*spans))
    return chosen
