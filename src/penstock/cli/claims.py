"""`penstock claims`: every claim of the papers, the paper's figure, ours, the verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from penstock.cli.arguments import Common, Flag, Folder, UsageError, hint, parse
from penstock.cli.voice import Column, Voice
from penstock.errors import UnknownName
from penstock.lab.claims.claim import NOT_RUN, PAPERS, SCALES, Verdict
from penstock.lab.claims.listing import Row, claim_rows, select
from penstock.lab.runs.inventory import standing
from penstock.lab.runs.places import runs_folder

__all__ = ["choose", "list_claims"]

NOT_BUILT = "not built yet"
COLUMNS = (
    Column("id"),
    Column("claim", 5),
    Column("the paper", 3),
    Column("here", 3),
    Column("verdict", 2, 14),
)


@dataclass(frozen=True)
class Claims(Common):
    claims: Annotated[tuple[str, ...], tyro.conf.Positional, hint("(default: all)", "[CLAIM ...]")] = ()
    """Claims by id, such as N2, or by the letter of their paper: N, D, R, L, B."""
    runs: Folder = None
    """The folder of runs (default: PENSTOCK_RUNS, or ./runs)."""
    json: Flag = False
    """Print JSON, with all that is known of each claim."""


def list_claims(arguments: Sequence[str]) -> int:
    """The table; off a terminal one line a claim: id, paper, place, claim, the paper's figure, ours,
    verdict, scale."""
    command = parse(Claims, arguments, "penstock claims", _about())
    rows = choose(command.claims) if command.claims else list(claim_rows().values())
    table = [describe_row(row, runs_folder(command.runs)) for row in rows]
    voice = Voice()
    if command.json:
        voice.json(table)
    elif voice.is_read_by_people:
        voice.table(COLUMNS, [_for_eyes(line) for line in table])
    else:
        for line in table:
            voice.line(*_cells(line))
    return 0


def choose(words: Sequence[str]) -> list[Row]:
    """The claims that were named; one that does not exist is a wrong call."""
    try:
        return select(words)
    except UnknownName as error:
        raise UsageError(f"{error}; `penstock claims` lists them all") from error


def describe_row(row: Row, runs: Path) -> dict[str, Any]:
    """All that is known of a claim. Where the paper is corrected, what is judged stands beside what is
    printed."""
    claim = row.claim
    line: dict[str, Any] = {
        "id": row.id,
        "paper": row.paper,
        "place": row.place,
        "kind": row.kind,
        "says": row.says,
        "printed": claim.printed if claim else None,
        "corrected": claim.corrected if claim else None,
        "built": claim is not None,
        "scales": [name for name in SCALES if name in claim.scales] if claim else [],
        "ours": None if claim else NOT_BUILT,
        "verdict": NOT_RUN,
        "scale": None,
    }
    stands = standing(claim, runs) if claim else None
    if stands is None:
        return line
    scale, found = stands
    if isinstance(found, Verdict):
        return {**line, "ours": found.ours, "verdict": found.word, "scale": scale}
    return {**line, "ours": found, "scale": scale}


def _cells(line: dict[str, Any]) -> list[str]:
    keys = ("id", "paper", "place", "says", "figure", "ours", "verdict", "scale")
    return [{**line, "figure": _figure(line)}[key] or "" for key in keys]


def _for_eyes(line: dict[str, Any]) -> list[str]:
    id, _, place, says, figure, ours, verdict, scale = _cells(line)
    return [id, f"{place}\n{says}", figure, ours, f"{verdict}\n{scale}".strip()]


def _figure(line: dict[str, Any]) -> str:
    """What the paper prints, and beside it what is judged where that is something else."""
    printed = line["printed"] or ""
    return f"{printed} (corrected: {line['corrected']})".strip() if line["corrected"] else printed


def _about() -> str:
    papers = ", ".join(f"{letter}: {title}" for letter, title in PAPERS.items())
    return f"{list_claims.__doc__}\n\n{papers}.".replace("  ", " ")
