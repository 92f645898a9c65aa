"""Files that are there whole or not at all, and what is said when a disk refuses."""

import contextlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

from penstock.errors import PenstockError

__all__ = [
    "append",
    "cannot_write",
    "discard",
    "empty",
    "make_folder",
    "move",
    "read_json",
    "sync_folder",
    "write_file",
    "write_json",
]

UNFINISHED = ".writing"


def write_file(path: Path, content: bytes) -> None:
    """Write beside, flush to the disk, then take the name: a reader, or a crash, meets the old file or the
    new one."""
    beside = path.with_name(f".{path.name}.{os.getpid()}{UNFINISHED}")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            append(handle, content)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(beside, path)
        sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise cannot_write(path, error) from error


def write_json(path: Path, value: Any) -> None:
    write_file(path, (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode())


def read_json(path: Path) -> Any:
    """The file's content; an `OSError` where it is not there, a `ValueError` where it is not JSON."""
    return json.loads(path.read_bytes())


def append(handle: int, content: bytes) -> None:
    """All of it: one call of `os.write` may write less than it was given."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(handle, rest) :]


def sync_folder(path: Path) -> None:
    """A name given or taken in a folder survives a power failure once the folder itself is on the disk."""
    if os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def move(source: Path, target: Path) -> None:
    """Rename within one folder, for good."""
    try:
        os.rename(source, target)
        sync_folder(target.parent)
    except OSError as error:
        raise cannot_write(target, error) from error


def make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error


def discard(path: Path, trash: Path) -> None:
    """Remove a folder by first taking it out of sight: one that is half removed is never met under its own
    name."""
    empty(trash)
    if path.exists():
        move(path, trash)
        empty(trash)


def empty(trash: Path) -> None:
    try:
        if trash.exists():
            shutil.rmtree(trash)
    except OSError as error:
        raise cannot_write(trash, error) from error


def cannot_write(path: Path, error: OSError) -> PenstockError:
    reason = error.strerror or str(error)
    return PenstockError(
        f"{path} cannot be written ({reason}); make room there, or name another folder, and run it again"
    )
