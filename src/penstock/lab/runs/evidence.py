"""Evidence on disk: tensors in safetensors, all else in a JSON file that names them and their checksum.

The tensors are written first and the JSON file last, so that the JSON file says whether the evidence is
there."""

import hashlib
import math
import numbers
from pathlib import Path
from typing import Any

from penstock.errors import PenstockError
from penstock.files import read_json, write_file, write_json
from penstock.lab.claims.claim import Evidence

__all__ = ["Damaged", "checksum", "read_evidence", "write_evidence"]

TENSORS = ".safetensors"


class Damaged(Exception):
    """What was read is not what was written; the message says how."""


def checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write_evidence(path: Path, evidence: Evidence) -> None:
    """`path` is the JSON file; the tensors lie beside it under the same name."""
    values: dict[str, Any] = {}
    tensors: dict[str, Any] = {}
    for name, value in evidence.items():
        if _is_array(value):
            tensors[name] = value
            values[name] = {"tensor": name}
        else:
            values[name] = _scalar(name, value)
    content = {"values": values}
    if tensors:
        packed = _pack(tensors)
        write_file(path.with_suffix(TENSORS), packed)
        content["tensors"] = {"sha256": checksum(packed)}
    write_json(path, content)


def read_evidence(path: Path) -> dict[str, Any]:
    """What `write_evidence` wrote, in its order; torch is imported only where there are tensors."""
    try:
        content = read_json(path)
        values = dict(content["values"])
        tensors = (
            _unpack(path.with_suffix(TENSORS), content["tensors"]["sha256"]) if "tensors" in content else {}
        )
        return {name: _value(value, tensors) for name, value in values.items()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Damaged(f"{path.name} cannot be read") from error


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, numbers.Number)


def _scalar(name: str, value: Any) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        return number if math.isfinite(number) else {"number": str(number)}
    raise PenstockError(
        f"the evidence {name!r} is a {type(value).__name__}; evidence is a flat mapping of names to "
        f"numbers, strings or tensors"
    )


def _value(value: Any, tensors: dict[str, Any]) -> Any:
    if not isinstance(value, dict):
        return value
    return tensors[value["tensor"]] if "tensor" in value else float(value["number"])


def _pack(tensors: dict[str, Any]) -> bytes:
    import torch
    from safetensors.torch import save

    # cloned: two names for one piece of memory are two tensors on disk
    ready = {
        name: torch.as_tensor(value).detach().cpu().contiguous().clone() for name, value in tensors.items()
    }
    try:
        return save(ready)
    except (KeyError, ValueError, RuntimeError) as error:
        kinds = ", ".join(f"{name} ({value.dtype})" for name, value in ready.items())
        raise PenstockError(f"safetensors cannot hold one of the evidence's tensors: {kinds}") from error


def _unpack(path: Path, sha256: str) -> dict[str, Any]:
    from safetensors.torch import load

    content = path.read_bytes()
    if checksum(content) != sha256:
        raise ValueError(f"{path.name} is not what was written")
    return load(content)
