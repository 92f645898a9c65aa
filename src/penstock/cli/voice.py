"""How the command speaks: for people on a terminal, as plain lines of text everywhere else."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any, cast

from penstock.lab.runs.progress import Stream

__all__ = ["Column", "Voice"]


@dataclass(frozen=True)
class Column:
    """A column of a table: its head, its share of the width that is left (0: as wide as it needs), its
    least width."""

    head: str
    share: int = 0
    at_least: int = 0


class Voice:
    """Results go to `out`, a story of what is going on to `aside`; only a terminal gets colour and
    wrapping."""

    def __init__(self, out: Stream | None = None, aside: Stream | None = None):
        self.out = out or sys.stdout
        self.aside = aside or self.out

    @property
    def is_read_by_people(self) -> bool:
        return self.out.isatty()

    def say(self, text: str = "", style: str | None = None) -> None:
        """A line of the story."""
        if self.aside.isatty():
            _console(self.aside).print(text, style=style, markup=False, highlight=False, soft_wrap=False)
        else:
            print(text, file=self.aside, flush=True)

    def line(self, *cells: str) -> None:
        """A plain line of tab-separated cells, never wrapped or coloured."""
        print("\t".join(_flat(cell) for cell in cells), file=self.out, flush=True)

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
        """A table for the eyes; a cell may have several lines."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, expand=any(column.share for column in columns), pad_edge=False)
        for column in columns:
            table.add_column(
                column.head,
                ratio=column.share or None,
                no_wrap=not column.share,
                min_width=column.at_least or None,
            )
        for row in rows:
            table.add_row(*(Text(cell, style=_style(cell)) for cell in row))
        _console(self.out).print(table)

    def json(self, value: Any) -> None:
        print(json.dumps(value, indent=2, ensure_ascii=False), file=self.out, flush=True)


VERDICT_STYLES = {
    "reproduced": "green",
    "reproduced as corrected": "green",
    "direction only": "yellow",
    "not reproduced": "red",
    "not run": "dim",
}


def _style(cell: str) -> str:
    return VERDICT_STYLES.get(cell.split("\n")[0], "")


def _flat(cell: str) -> str:
    return " ".join(cell.split())


def _console(stream: Stream) -> Any:
    from rich.console import Console

    return Console(file=cast("IO[str]", stream), highlight=False)
