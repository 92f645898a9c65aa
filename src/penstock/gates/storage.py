"""A record on disk: safetensors, whose header describes the layers and holds a checksum of each tensor.

A file appears whole or not at all: it is written beside its place, flushed to the disk, and moved there in
one step. It is read by mapping it into memory.
"""

import json
import os
import secrets
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from penstock.errors import PenstockError
from penstock.gates.factor import Factor
from penstock.gates.gate import Gate, Hard, Normal, NormalTanh, Soft
from penstock.gates.given import Given
from penstock.gates.kinds import Above, AdaptiveChoice, Choice, Clipped, Kind, Magnitude, Rectifier, Smooth
from penstock.gates.layer import BitLayer, GateLayer, ValueLayer
from penstock.gates.packed import WORD
from penstock.gates.softening import Leaking, SoftClipped

__all__ = ["load", "save"]

FORMAT = "penstock gate record"
VERSION = 1

_SAVED = (
    Above,
    AdaptiveChoice,
    Choice,
    Clipped,
    Factor,
    Given,
    Hard,
    Leaking,
    Magnitude,
    Normal,
    NormalTanh,
    Rectifier,
    Smooth,
    Soft,
    SoftClipped,
)
_BY_NAME: dict[str, type] = {kind.__name__: kind for kind in _SAVED}


def save(layers: Sequence[GateLayer], path: str | os.PathLike[str]) -> None:
    """Writes the layers to `path`, over what may be there, in one step."""
    path = Path(path)
    if path.is_dir():
        raise PenstockError(f"the record cannot be written to {path}, which is a folder; name a file in it")
    tensors: dict[str, Tensor] = {}
    layers_told = [_describe_layer(layer, str(place), tensors) for place, layer in enumerate(layers)]
    tensors_told = {name: _describe_tensor(tensor) for name, tensor in tensors.items()}
    told = json.dumps({"layers": layers_told, "tensors": tensors_told})
    header = {
        "format": FORMAT,
        "version": str(VERSION),
        "record": told,
        "checksum": str(zlib.crc32(told.encode())),
    }
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        beside.touch()
        mode = beside.stat().st_mode
        save_file(tensors, beside, metadata=header)
        # safetensors lets only the owner read; the user's own umask decides instead
        beside.chmod(mode)
        _flush(beside)
        os.replace(beside, path)
        if os.name == "posix":
            _flush(path.parent)
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PenstockError(
            f"the record cannot be written to {path}: {reason}; choose another place"
        ) from error
    finally:
        beside.unlink(missing_ok=True)


def load(path: str | os.PathLike[str]) -> list[GateLayer]:
    """The layers that `save` wrote to `path`; anything else there is refused by name."""
    path = Path(path)
    if path.is_dir():
        raise PenstockError(f"{path} is a folder; give the path of a saved record")
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except OSError as error:
        reason = error.strerror or "there is no such file"
        raise PenstockError(
            f"the file {path} cannot be read: {reason}; give the path of a saved record"
        ) from error
    except SafetensorError as error:
        raise _damaged(path, error) from error
    if header.get("format") != FORMAT:
        raise PenstockError(
            f"the file {path} holds tensors but no gate record; give a file that record.save wrote"
        )
    try:
        version = int(header["version"])
    except (KeyError, ValueError) as error:
        raise _damaged(path, error) from error
    if version > VERSION:
        raise PenstockError(
            f"the file {path} is a gate record of format {version} and this version of Penstock reads up to "
            f"{VERSION}; install a newer Penstock"
        )
    try:
        return _read_layers(header, tensors)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, reason: Exception) -> PenstockError:
    return PenstockError(f"the file {path} is no gate record, or it is damaged ({reason}); save it again")


def _read_layers(header: dict[str, str], tensors: dict[str, Tensor]) -> list[GateLayer]:
    if str(zlib.crc32(header["record"].encode())) != header["checksum"]:
        raise ValueError("the checksum of its description is wrong")
    told = json.loads(header["record"])
    for name, tensor in tensors.items():
        if _describe_tensor(tensor) != told["tensors"][name]:
            raise ValueError(f"the checksum of its tensor {name} is wrong")
    return [_read_layer(described, tensors) for described in told["layers"]]


def _describe_layer(layer: GateLayer, place: str, tensors: dict[str, Tensor]) -> dict[str, Any]:
    names = [f"{place}.{number}" for number in range(len(layer.tensors))]
    for name, tensor in zip(names, layer.tensors, strict=True):
        tensors[name] = tensor.cpu().contiguous()
    kind = _describe(layer.kind, f"{place}.kind", tensors)
    return {"name": layer.name, "kind": kind, "shape": layer.shape, "tensors": names, "examples": len(layer)}


def _describe(value: object, place: str, tensors: dict[str, Tensor]) -> object:
    """A kind or a gate as JSON, its tensors apart."""
    if isinstance(value, (Kind, Gate)):
        if type(value) not in _SAVED:
            raise PenstockError(
                f"gates of the kind {type(value).__name__} cannot be saved, because a file can only name "
                "Penstock's own; save what you need of them yourself, from record.to_dense()"
            )
        parts = vars(value)
        return {"is": type(value).__name__} | {
            name: _describe(part, f"{place}.{name}", tensors) for name, part in parts.items()
        }
    if isinstance(value, Tensor):
        # layers may share one slope, and a file holds every tensor once
        tensors[place] = value.detach().cpu().clone()
        return {"tensor": place}
    return value


def _read_layer(described: dict[str, Any], tensors: dict[str, Tensor]) -> GateLayer:
    kind, shape = _read(described["kind"], tensors), tuple(described["shape"])
    stored = tuple(tensors[name] for name in described["tensors"])
    layer = (BitLayer if kind.hard else ValueLayer)(described["name"], kind, shape, stored)
    row = (-(-layer.gates // WORD),) if kind.hard else shape
    for tensor in stored:
        if tensor.shape != (described["examples"], *row) or (kind.hard and tensor.dtype != torch.int64):
            raise ValueError(f"the gates of its layer {layer.name} do not have the shape {shape}")
    return layer


def _read(described: Any, tensors: dict[str, Tensor]) -> Any:
    if isinstance(described, dict):
        if "tensor" in described:
            return tensors[described["tensor"]]
        parts = {name: _read(part, tensors) for name, part in described.items() if name != "is"}
        return _BY_NAME[described["is"]](**parts)
    return tuple(described) if isinstance(described, list) else described


def _describe_tensor(tensor: Tensor) -> list[Any]:
    return [
        str(tensor.dtype),
        list(tensor.shape),
        zlib.crc32(tensor.reshape(-1).view(torch.uint8).numpy().data),
    ]


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
