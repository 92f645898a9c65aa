"""One checkpoint as a file: safetensors, whose header holds a description and a checksum of everything."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, uint8

from penstock.files import write_file

__all__ = ["Damaged", "read", "write"]

FORMAT = "penstock training checkpoint"
VERSION = 1


class Damaged(Exception):
    """The file is not what was written, or another version wrote it; the message says which."""


def write(path: Path, about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Whole or not at all."""
    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    told = json.dumps(about, allow_nan=False)
    header = {"format": FORMAT, "version": str(VERSION), "about": told, "sha256": _checksum(told, whole)}
    write_file(path, save(whole, metadata=header))


def read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """What `write` was given, to the bit; otherwise `Damaged`."""
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise Damaged(f"it cannot be read: {error}") from error
    if header.get("format") != FORMAT:
        raise Damaged("it is no checkpoint of a training")
    if header.get("version") != str(VERSION):
        raise Damaged(f"it is of format {header.get('version')}, and this is {VERSION}")
    told = header.get("about", "")
    if _checksum(told, tensors) != header.get("sha256"):
        raise Damaged("its checksum is wrong")
    return json.loads(told), tensors


def _checksum(told: str, tensors: Mapping[str, Tensor]) -> str:
    digest = hashlib.sha256(told.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(uint8).numpy().data)
    return digest.hexdigest()
