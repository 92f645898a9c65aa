"""Tests on real data run where the data are, and say where they are not."""

from pathlib import Path

import pytest

from penstock.lab.data.named import is_here
from penstock.lab.runs.places import data_folder

__all__ = ["folder_with"]


def folder_with(name: str) -> Path:
    """The data folder, if this data set is there; if it is not, the test is skipped and nothing downloaded.

    Without `PENSTOCK_DATA` the data folder of the tests is an empty one: see `conftest.py`.
    """
    folder = data_folder()
    if not is_here(name, folder):
        pytest.skip(f"needs {name}: set PENSTOCK_DATA to a folder that has it (docs/how-to/data.md)")
    return folder
