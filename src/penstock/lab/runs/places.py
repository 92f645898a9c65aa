"""Where run folders and downloaded data lie."""

import os
from pathlib import Path

__all__ = ["data_folder", "runs_folder"]


def runs_folder(given: Path | None = None) -> Path:
    """What was given, else `PENSTOCK_RUNS`, else `./runs`."""
    return Path(given or os.environ.get("PENSTOCK_RUNS") or "runs").expanduser()


def data_folder(given: Path | None = None) -> Path:
    """What was given, else `PENSTOCK_DATA`, else the user's cache folder."""
    named = given or os.environ.get("PENSTOCK_DATA")
    if named:
        return Path(named).expanduser()
    import pooch

    return Path(pooch.os_cache("penstock"))
