"""What has been run: every run of a folder, and which of them speaks for a claim."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.errors import PenstockError
from penstock.lab.claims.claim import SCALES, Claim, Verdict
from penstock.lab.runs.evidence import Damaged
from penstock.lab.runs.folder import RunFolder
from penstock.lab.runs.journal import read_journal, read_starts
from penstock.lab.runs.naming import NAME, folder_name, identity

__all__ = ["Record", "record", "records", "standing"]


@dataclass(frozen=True)
class Record:
    """One run as it lies there. `state` is `finished`, `unfinished`, or why it is refused."""

    folder: RunFolder
    state: str
    about: dict[str, Any]
    verdict: Verdict | None = None
    seconds: float | None = None

    def journal(self) -> list[dict[str, Any]]:
        """Its metrics; empty where it has written none."""
        return _read(self.folder, read_journal)

    def starts(self) -> list[dict[str, Any]]:
        """Each time it was started, on which machine, with which versions."""
        return _read(self.folder, read_starts)


def records(root: Path) -> list[Record]:
    """Every run of the folder, by claim and scale. What is not a run's folder is passed over."""
    names = [path.name for path in root.iterdir() if NAME.fullmatch(path.name)] if root.is_dir() else []
    return [record(root / name) for name in sorted(names, key=_order)]


def record(path: Path) -> Record:
    """The run in this folder."""
    folder = RunFolder(path, path.name)
    try:
        about = folder.about()
        if not folder.finished:
            return Record(folder, "unfinished", about)
        return Record(folder, "finished", about, folder.verdict(), folder.seconds())
    except PenstockError as error:
        return Record(folder, str(error), {})


def standing(claim: Claim[Any], root: Path) -> tuple[str, Verdict | str] | None:
    """The scale and the verdict of the largest run made with a scale's own settings, or why that run is
    refused; None where there is no finished one. A run with overridden settings does not speak for the
    claim."""
    for scale in reversed(SCALES):
        if scale not in claim.scales:
            continue
        name = folder_name(identity(claim, scale, claim.scales[scale].settings))
        if (root / name).exists():
            found = record(root / name)
            if found.state != "unfinished":
                return scale, found.verdict or found.state
    return None


def _order(name: str) -> tuple[str, int, int, str]:
    parts = NAME.fullmatch(name)
    assert parts is not None
    scale = parts["scale"]
    return (
        parts["claim"][0],
        int(parts["claim"][1:]),
        SCALES.index(scale) if scale in SCALES else len(SCALES),
        name,
    )


def _read(folder: RunFolder, read: Any) -> list[dict[str, Any]]:
    try:
        return read(folder.journal)
    except Damaged as error:
        raise folder.damaged(error) from error
