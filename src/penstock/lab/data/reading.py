"""The content of a data set's file, taken for what it says it is only after its size and checksum agree."""

import gzip
import hashlib
import io
import tarfile
import zlib
from pathlib import Path

from penstock.lab.data.source import Parcel, Part

__all__ = ["Wrong", "read_archive", "read_part"]

GZIP = b"\x1f\x8b"
#: What unpacks to more than it should is noticed before it fills the memory; and whoever asks for one byte
#: more than there is comes to the end of the file, where a checksum stands.
ONE_MORE = 1
BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError)


class Wrong(Exception):
    """A file is not what it is to be; the message names it and says how."""


def read_part(path: Path, part: Part) -> bytes:
    """What is in a file, packed or plain."""
    try:
        content = path.read_bytes()
        if content.startswith(GZIP):
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
                content = file.read(part.size + ONE_MORE)
    except BROKEN as error:
        raise Wrong(f"{path} is damaged or cut short ({error})") from error
    except OSError as error:
        raise Wrong(f"{path} cannot be read ({error.strerror or error})") from error
    return _checked(content, part, str(path))


def read_archive(path: Path, parcel: Parcel) -> dict[str, bytes]:
    """What is in the files of an archive, read where it lies: nothing is unpacked to the disk."""
    wanted = {part.name: part for part in parcel.parts}
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(path, "r:gz") as archive:
            for member in archive:
                part = wanted.get(Path(member.name).name)
                file = archive.extractfile(member) if part else None
                if part and file:
                    content = file.read(part.size + ONE_MORE)
                    found[part.name] = _checked(content, part, f"{part.name} in {path}")
    except BROKEN as error:
        raise Wrong(f"{path} is damaged or cut short ({error})") from error
    except OSError as error:
        raise Wrong(f"{path} cannot be read ({error.strerror or error})") from error
    missing = [name for name in wanted if name not in found]
    if missing:
        raise Wrong(f"{path} lacks {', '.join(missing)}")
    return found


def _checked(content: bytes, part: Part, where: str) -> bytes:
    if len(content) != part.size:
        holds = "more" if len(content) > part.size else f"{len(content):,}"
        raise Wrong(f"{where} holds {holds} bytes where {part.size:,} are expected")
    if hashlib.sha256(content).hexdigest() != part.sha256:
        raise Wrong(f"{where} has another checksum (SHA-256) than what was published")
    return content
