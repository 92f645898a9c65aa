"""How much memory an answer with one number a path may take.

What is listed path by path can outgrow any machine. So every such question counts the paths first, which
takes no memory, and is refused where its answer would be larger than `memory_limit()`: a quarter of the
memory of the machine or of the GPU that the model is on, unless `set_memory_limit` has said otherwise.
"""

import math
import os
from pathlib import Path

import torch

from penstock.errors import PenstockError
from penstock.model.sizes import size_in_bytes

__all__ = ["check_memory", "memory_limit", "set_memory_limit"]

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_CONTAINER = Path("/sys/fs/cgroup/memory.max")
_WHERE_NOBODY_SAYS = 8 << 30

_chosen: int | None = None


def memory_limit(device: torch.device | None = None) -> int:
    """The limit in bytes, for an answer on this device."""
    if _chosen is not None:
        return _chosen
    return (torch.cuda.mem_get_info(device)[1] if device and device.type == "cuda" else _machine()) // 4


def set_memory_limit(limit: int | str | None) -> None:
    """Bytes, or a text such as "16GiB"; None for a quarter of the memory there is.

    >>> set_memory_limit("16GiB")
    >>> memory_limit()
    17179869184
    >>> set_memory_limit(None)
    """
    global _chosen
    _chosen = None if limit is None else size_in_bytes(limit)


def check_memory(paths: int, asked: str, size: int, device: torch.device | None = None) -> None:
    """Refuses an answer of so many bytes, if that is above the limit. `asked` names it: "a list of them"."""
    limit = memory_limit(device)
    if size > limit:
        raise PenstockError(
            f"{_count(paths)} paths lead to this output, and {asked} takes {_size(size)}, above the limit of "
            f"{_size(limit)}; penstock.count_paths counts them without listing, and "
            "penstock.paths.limit.set_memory_limit sets another limit"
        )


def _machine() -> int:
    """The memory of the machine, or of the container on it."""
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return _WHERE_NOBODY_SAYS
    try:
        return min(size, int(_CONTAINER.read_text()))
    except (OSError, ValueError):
        return size


def _count(paths: int) -> str:
    """All digits while they can be read, and the power of ten beyond."""
    return f"{paths:,}" if paths < 10**15 else _power(paths)


def _size(size: int) -> str:
    place = min((size.bit_length() - 1) // 10, len(_UNITS) - 1)
    whole = size >> (10 * place)
    if whole >= 10**6:
        return f"{_power(whole)} {_UNITS[place]}"
    return f"{size / 1024**place:.3g} {_UNITS[place]}" if whole < 1000 else f"{whole} {_UNITS[place]}"


def _power(number: int) -> str:
    exponent = math.floor(math.log10(number))
    # by logarithms, as a float may not hold the number itself
    return f"{10 ** (math.log10(number) - exponent):.1f}·10^{exponent}"
