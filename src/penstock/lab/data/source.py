"""Where a data set comes from: its files, known by their content, the places where they may lie, and who
gives them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

__all__ = ["Parcel", "Part", "Source"]


class Part(NamedTuple):
    """One file of a data set: its name, and the size and checksum of what is in it once it is unpacked, so
    that packed or plain, from one mirror or another, it is known by the same."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Parcel:
    """What is downloaded at once: a packed part, or an archive of several; the checksum is that of the
    parcel as it comes."""

    name: str
    sha256: str
    parts: tuple[Part, ...]

    @property
    def is_archive(self) -> bool:
        return self.name.endswith(".tar.gz")


@dataclass(frozen=True)
class Source:
    """A data set's parcels; the folders, below the data folder, in which they are looked for before they are
    looked for in the data folder itself; folders of the system; and the mirrors, in the order in which they
    are tried."""

    name: str
    parcels: tuple[Parcel, ...]
    folders: tuple[str, ...]
    mirrors: tuple[str, ...]
    elsewhere: tuple[Path, ...] = ()

    def places(self, folder: Path) -> Iterator[Path]:
        """Every folder that may hold a file of this data set, the likeliest first."""
        for below in (self.name, *self.folders):
            yield folder / below
        yield folder
        yield from self.elsewhere

    def home(self, folder: Path) -> Path:
        """Where a download is put, and where a file that is fetched by hand is best put."""
        return folder / self.name
