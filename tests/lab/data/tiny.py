"""Tiny data sets in the formats of the real ones, and how they are packed."""

import gzip
import hashlib
import io
import tarfile
from dataclasses import replace
from pathlib import Path

from penstock.lab.data.source import Parcel, Part, Source

#: Two images of 2 × 3 pixels and their labels, in IDX.
IMAGES = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3]) + bytes(range(12))
LABELS = bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 4])
FILES = {"images": IMAGES, "labels": LABELS}


def part_of(name: str, content: bytes) -> Part:
    return Part(name, len(content), hashlib.sha256(content).hexdigest())


def parcel_of(name: str, packed: bytes, *parts: Part) -> Parcel:
    return Parcel(name, hashlib.sha256(packed).hexdigest(), parts)


def packed(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def tiny_source(mirrors: tuple[str, ...] = (), elsewhere: tuple[Path, ...] = ()) -> Source:
    parcels = tuple(parcel_of(f"{n}.gz", packed(c), part_of(n, c)) for n, c in FILES.items())
    return Source("tiny", parcels, folders=("TINY/raw",), mirrors=mirrors, elsewhere=elsewhere)


def record(label: int, shade: int) -> bytes:
    """One image in CIFAR-10's format: red of this shade, green one more, blue two more."""
    return bytes([label]) + b"".join(bytes([shade + channel]) * 1024 for channel in range(3))


BATCHES = {"one.bin": record(0, 10) + record(9, 20), "two.bin": record(3, 30)}


def archive(files: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as tar:
        for name, content in files.items():
            about = tarfile.TarInfo(f"batches-bin/{name}")
            about.size = len(content)
            tar.addfile(about, io.BytesIO(content))
    return held.getvalue()


ARCHIVE = archive({"readme.html": b"text", **dict(reversed(BATCHES.items()))})


def tiny_archive(mirrors: tuple[str, ...] = ()) -> Source:
    parts = [part_of(name, content) for name, content in BATCHES.items()]
    parcel = parcel_of("batches.tar.gz", ARCHIVE, *parts)
    return replace(tiny_source(mirrors), parcels=(parcel,), folders=("batches-bin",))
