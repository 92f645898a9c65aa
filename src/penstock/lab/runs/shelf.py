"""Where one run lies, and what lies beside it while it is made, done over or cleared away.

All of these are neighbors in the runs folder, so that each step from one to the next is one rename:

* `.NAME.making`  a folder that does not hold its `run.json` yet
* `NAME`          the run
* `.NAME.over`    the same run being done over (`--fresh`); the old one stays until this one is finished
* `.NAME.trash`   what is being removed
* `.NAME.lock`    held by the process that writes any of them
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from penstock.files import discard, empty, make_folder, move
from penstock.lab.runs.folder import RunFolder
from penstock.lab.runs.lock import exclusive
from penstock.lab.runs.naming import folder_name
from penstock.lab.runs.surroundings import machine, versions

__all__ = ["Shelf"]


class Shelf:
    """The places of one run in a runs folder."""

    def __init__(self, root: Path, identity: dict[str, Any]):
        self.root = root
        self.identity = identity
        self.name = folder_name(identity)
        self.run = RunFolder(root / self.name, self.name)
        self.over = RunFolder(self._beside("over"), self.name)
        self.making = RunFolder(self._beside("making"), self.name)
        self.trash = self._beside("trash")

    def _beside(self, what: str) -> Path:
        return self.root / f".{self.name}.{what}"

    @property
    def is_disturbed(self) -> bool:
        """Whether another process is at work on this run, or was when it died."""
        return any(self._beside(what).exists() for what in ("over", "making", "trash", "lock"))

    def exclusive(self, waiting: Callable[[str], None]) -> AbstractContextManager[None]:
        """Hold this run against other processes."""
        make_folder(self.root)
        return exclusive(self._beside("lock"), waiting)

    def recover(self) -> None:
        """Finish what a crash left between two renames. Only with the lock held."""
        if self.over.finished and self.over.is_sound:
            self.take_over()
        discard(self.making.path, self.trash)

    def make(self, target: RunFolder, device: str) -> None:
        """A new run at `target`, which appears with its `run.json` in it."""
        make_folder(self.making.path)
        self.making.begin(self.identity, versions(), machine(device))
        move(self.making.path, target.path)

    def start_over(self, device: str) -> None:
        """A new run beside the one that is there; one that was being done over is dropped."""
        discard(self.over.path, self.trash)
        self.make(self.over, device)

    def take_over(self) -> None:
        """The run that was done over takes the place of the old one."""
        empty(self.trash)
        if self.run.path.exists():
            move(self.run.path, self.trash)
        move(self.over.path, self.run.path)
        empty(self.trash)
