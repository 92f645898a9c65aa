"""`2GiB` as a number of bytes: how every question that bounds its memory is told."""

import re

from penstock.errors import PenstockError

__all__ = ["size_in_bytes"]

_UNITS = {"": 1, "B": 1} | {
    f"{prefix}{kind}": base**power
    for power, prefix in enumerate("KMGTPE", start=1)
    for kind, base in (("B", 1000), ("iB", 1024))
}


def size_in_bytes(size: str | int) -> int:
    """A size as `memory=` takes it: bytes, or a number with a unit.

    >>> size_in_bytes("2GiB"), size_in_bytes("500 MB"), size_in_bytes(4096)
    (2147483648, 500000000, 4096)
    """
    # a truth value is no number of bytes
    size = repr(size) if isinstance(size, bool) else size
    parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(size))
    if parts is None or parts[2] not in _UNITS or not float(parts[1]):
        raise PenstockError(f"memory={size!r} is no size; give bytes, or a number with a unit such as '2GiB'")
    return int(float(parts[1]) * _UNITS[parts[2]])
