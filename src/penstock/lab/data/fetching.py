"""Downloads, with checksums: a file is there whole and right, or not at all."""

import contextlib
from pathlib import Path

from penstock.errors import PenstockError
from penstock.files import make_folder
from penstock.lab.data.source import Parcel, Source

__all__ = ["fetch"]


def fetch(source: Source, parcel: Parcel, folder: Path) -> Path:
    """Download a parcel from the first mirror that gives it, and say so on stderr.

    Pooch downloads to a name of its own, compares the checksum, and only then gives the file its name.
    """
    import pooch

    home = source.home(folder)
    is_new = not home.exists()
    make_folder(home)
    failures = []
    for mirror in source.mirrors:
        try:
            path = pooch.retrieve(
                mirror + parcel.name, known_hash=f"sha256:{parcel.sha256}", fname=parcel.name, path=home
            )
        except ValueError:
            failures.append(f"{mirror} gave another file")
        except OSError as error:  # requests' own errors are of this kind
            failures.append(f"{mirror}: {type(error).__name__}")
        else:
            return Path(path)
    if is_new:
        with contextlib.suppress(OSError):
            home.rmdir()
    raise PenstockError(
        f"{parcel.name} of {source.name} is not in {folder} and could not be downloaded "
        f"({'; '.join(failures)}): put it into {home}, or name the folder that has it with PENSTOCK_DATA or "
        "--data-dir"
    )
