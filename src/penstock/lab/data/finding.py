"""The files of a data set, found where they may lie, or else downloaded."""

from collections.abc import Iterator
from pathlib import Path

from penstock.errors import PenstockError
from penstock.lab.data.fetching import fetch
from penstock.lab.data.reading import Wrong, read_archive, read_part
from penstock.lab.data.source import Parcel, Part, Source

__all__ = ["contents", "lies_there"]


def contents(source: Source, folder: Path) -> dict[str, bytes]:
    """What is in each file of a data set, by the file's name.

    A wrong file is passed over where a right one is found further on (MNIST's files and Fashion-MNIST's have
    the same names); where none is, it is refused by name, and not downloaded over.
    """
    found: dict[str, bytes] = {}
    for parcel in source.parcels:
        found |= _opened(source, parcel, folder)
    return found


def lies_there(source: Source, folder: Path) -> bool:
    """Whether all files are there, so that nothing would be downloaded; none is opened."""
    return all(
        any(_archives(source, parcel, folder))
        or all(any(_files(source, part, folder)) for part in parcel.parts)
        for parcel in source.parcels
    )


def _opened(source: Source, parcel: Parcel, folder: Path) -> dict[str, bytes]:
    wrong: list[Wrong] = []
    found: dict[str, bytes] = {}
    for part in parcel.parts:
        for path in _files(source, part, folder):
            try:
                found[part.name] = read_part(path, part)
                break
            except Wrong as error:
                wrong.append(error)
    if len(found) == len(parcel.parts):
        return found
    for path in _archives(source, parcel, folder):
        try:
            return read_archive(path, parcel)
        except Wrong as error:
            wrong.append(error)
    if wrong:
        raise _refusal(wrong[0], source, parcel, folder)
    downloaded = fetch(source, parcel, folder)
    try:
        if parcel.is_archive:
            return read_archive(downloaded, parcel)
        (part,) = parcel.parts
        return {part.name: read_part(downloaded, part)}
    except Wrong as error:
        raise _refusal(error, source, parcel, folder) from error


def _refusal(wrong: Wrong, source: Source, parcel: Parcel, folder: Path) -> PenstockError:
    return PenstockError(
        f"{wrong}, so it is not taken for {source.name}'s; replace it, or put the right {parcel.name} into "
        f"{source.home(folder)}"
    )


def _files(source: Source, part: Part, folder: Path) -> Iterator[Path]:
    for place in source.places(folder):
        for name in (part.name, f"{part.name}.gz"):
            if (place / name).is_file():
                yield place / name


def _archives(source: Source, parcel: Parcel, folder: Path) -> Iterator[Path]:
    if parcel.is_archive:
        yield from (place / parcel.name for place in source.places(folder) if (place / parcel.name).is_file())
