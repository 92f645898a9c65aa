"""`penstock runs`: what has been run, and the journal of each run."""

import datetime
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from penstock.cli.arguments import Common, Flag, Folder, UsageError, hint, parse
from penstock.cli.voice import Column, Voice
from penstock.errors import PenstockError, nearest
from penstock.lab.runs.inventory import Record, records
from penstock.lab.runs.places import runs_folder
from penstock.lab.runs.progress import duration

__all__ = ["list_runs"]

COLUMNS = (
    Column("run"),
    Column("state", 2, 10),
    Column("verdict", 1, 14),
    Column("started"),
    Column("took"),
    Column("journal"),
)


@dataclass(frozen=True)
class Runs(Common):
    names: Annotated[tuple[str, ...], tyro.conf.Positional, hint("(default: all)", "[RUN ...]")] = ()
    """Runs by the name of their folder, or all of a claim, such as N2; they are shown in full."""
    runs: Folder = None
    """The folder of runs (default: PENSTOCK_RUNS, or ./runs)."""
    json: Flag = False
    """Print JSON: settings, seeds, versions, machine, verdict and the whole journal."""


def list_runs(arguments: Sequence[str]) -> int:
    """The runs of a folder; off a terminal one line a run: name, state, verdict, started, seconds, journal
    lines."""
    command = parse(Runs, arguments, "penstock runs", list_runs.__doc__ or "")
    root = runs_folder(command.runs)
    found = _choose(records(root), command.names, root)
    voice = Voice()
    if command.json:
        voice.json([_whole(record) for record in found])
    elif command.names:
        for record in found:
            _show(record, voice)
    elif found and voice.is_read_by_people:
        voice.table(COLUMNS, [_line(record) for record in found])
    elif found:
        for record in found:
            voice.line(*_line(record))
    else:
        Voice(aside=sys.stderr).say(f"nothing has been run yet in {root}")
    return 0


def _choose(found: list[Record], names: Sequence[str], root: Path) -> list[Record]:
    chosen: list[Record] = []
    for name in names:
        matching = [
            each for each in found if name.lower() in (each.folder.name.lower(), _claim(each).lower())
        ]
        if not matching:
            known = [each.folder.name for each in found]
            raise UsageError(f"there is no run {name!r} in {root}; {nearest(name, known)}")
        chosen += [each for each in matching if each not in chosen]
    return chosen if names else found


def _claim(record: Record) -> str:
    return record.folder.name.split("-")[0]


def _line(record: Record) -> list[str]:
    lines = _journal(record)
    return [
        record.folder.name,
        record.state,
        record.verdict.word if record.verdict else "",
        _date(record.about["started"]) if record.about else "",
        duration(record.seconds) if record.seconds is not None else "",
        str(len(lines)) if lines is not None else "",
    ]


def _journal(record: Record) -> list[dict[str, Any]] | None:
    """The journal, where it can be read: one damaged run does not hide the others."""
    try:
        return record.journal()
    except PenstockError:
        return None


def _show(record: Record, voice: Voice) -> None:
    voice.say(record.folder.name, "bold")
    voice.say(f"  state: {record.state}")
    if record.verdict:
        voice.say(f"  verdict: {record.verdict.word} ({record.verdict.ours})")
    for title in ("rule", "settings", "seeds", "versions", "machine"):
        if title in record.about:
            voice.say(f"  {title}: {_words(record.about[title])}")
    if record.about:
        voice.say(f"  started: {_date(record.about['started'])}")
    lines = _journal(record) or []
    voice.say(f"  journal: {len(lines)} lines")
    for line in lines[-3:]:
        voice.say(
            "    " + _words({name: value for name, value in line.items() if name not in ("time", "start")})
        )


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words(item)}" for name, item in value.items() if item is not None)
    if isinstance(value, list):
        return " ".join(_words(item) for item in value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _whole(record: Record) -> dict[str, Any]:
    verdict = record.verdict
    return {
        "name": record.folder.name,
        "state": record.state,
        "verdict": verdict.word if verdict else None,
        "ours": verdict.ours if verdict else None,
        "seconds": record.seconds,
        "about": record.about,
        "journal": _journal(record),
    }


def _date(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")
