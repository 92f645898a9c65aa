"""A run's metrics as they come: JSON lines, appended, so that what was written is there after a crash.

Each line carries the time, which start of the run wrote it and which part of the run it belongs to. A run
that was killed inside a part does that part again; `read_journal` then gives the lines of its last start
alone."""

import json
import math
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.errors import PenstockError
from penstock.files import append, cannot_write
from penstock.lab.runs.evidence import Damaged

if TYPE_CHECKING:
    import polars

__all__ = ["Journal", "journal_frame", "read_journal", "read_starts"]

OWN = ("time", "start", "part")


class Journal:
    """The open journal of one start of a run."""

    def __init__(self, path: Path, about: dict[str, Any]):
        self.path = path
        self.part: str | None = None
        self.start = 1
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            whole = _content(path)
            if len(whole) < path.stat().st_size:  # the last line was being written when the run was killed
                os.ftruncate(self._handle, len(whole))
        except OSError as error:
            raise cannot_write(path, error) from error
        self.start += sum(1 for line in _lines(whole) if "about" in line)
        self._append({"about": about})

    def write(self, **metrics: Any) -> None:
        """Append one line of numbers and words: `journal.write(step=10, loss=0.3)`."""
        taken = [name for name in (*OWN, "about") if name in metrics]
        if taken:
            raise PenstockError(f"the journal writes {taken[0]!r} itself; call the metric something else")
        self._append({name: _number(name, value) for name, value in metrics.items()})

    def close(self) -> None:
        """Flush to the disk, and close."""
        try:
            os.fsync(self._handle)
        except OSError as error:
            raise cannot_write(self.path, error) from error
        finally:
            os.close(self._handle)

    def _append(self, content: dict[str, Any]) -> None:
        line = {"time": round(time.time(), 3), "start": self.start, "part": self.part, **content}
        try:
            append(self._handle, (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode())
        except OSError as error:
            raise cannot_write(self.path, error) from error


def read_journal(path: Path) -> list[dict[str, Any]]:
    """The metrics, in order; of a part that was begun more than once, what its last start wrote."""
    lines = [line for line in _lines(_content(path)) if "about" not in line]
    last: dict[str | None, int] = {}
    for line in lines:
        last[line["part"]] = max(line["start"], last.get(line["part"], 0))
    return [line for line in lines if line["start"] == last[line["part"]]]


def read_starts(path: Path) -> list[dict[str, Any]]:
    """Each time the run was started: when, on which machine and device, with which versions."""
    return [{"time": line["time"], **line["about"]} for line in _lines(_content(path)) if "about" in line]


def journal_frame(path: Path) -> "polars.DataFrame":
    """The metrics as a polars frame, one column a metric (needs the extra `report`)."""
    import polars

    return polars.DataFrame(read_journal(path), infer_schema_length=None)


def _content(path: Path) -> bytes:
    """Its whole lines: one that was being written when the run was killed is not there yet."""
    content = path.read_bytes() if path.exists() else b""
    return content[: content.rfind(b"\n") + 1]


def _lines(content: bytes) -> list[dict[str, Any]]:
    lines = []
    for number, text in enumerate(content.splitlines(), start=1):
        try:
            line = {name: _metric(value) for name, value in json.loads(text).items()}
        except (ValueError, AttributeError, KeyError, TypeError) as error:
            raise Damaged(f"line {number} of its journal cannot be read") from error
        if not isinstance(line.get("start"), int) or not set(OWN) <= set(line):
            raise Damaged(f"line {number} of its journal lacks something")
        lines.append(line)
    return lines


def _number(name: str, value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise PenstockError(
            f"the metric {name!r} is a {type(value).__name__}; a journal takes numbers and words"
        ) from error
    return number if math.isfinite(number) else {"number": str(number)}


def _metric(value: Any) -> Any:
    return float(value["number"]) if isinstance(value, dict) and set(value) == {"number"} else value
