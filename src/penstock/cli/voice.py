"""How the command speaks: for people on a terminal, as plain lines of text everywhere else."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from penstock.lab.runs.progress import Stream

__all__ = ["Voice"]


class Voice:
    """Results go to `out`, a story of what is going on to `aside`; only a terminal gets colour and wrapping."""

    def __init__(self, out: Stream | None = None, aside: Stream | None = None):
        self.out = out or sys.stdout
        self.aside = aside or self.out

    def say(self, text: str = "", style: str | None = None) -> None:
        """A line of the story."""
        if self.aside.isatty():
            _console(self.aside).print(text, style=style, markup=False, highlight=False, soft_wrap=False)
        else:
            print(text, file=self.aside, flush=True)

    def line(self, *cells: str) -> None:
        """A plain line of tab-separated cells, never wrapped or coloured."""
        print("\t".join(_flat(cell) for cell in cells), file=self.out, flush=True)

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[str]], ratios: Sequence[int]) -> None:
        """A table for the eyes; off a terminal its rows alone, tab-separated. A ratio of 0 is a column that never wraps."""
        if not self.out.isatty():
            for row in rows:
                self.line(*row)
            return
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, expand=True, pad_edge=False, show_lines=False)
        for head, ratio in zip(heads, ratios, strict=True):
            table.add_column(head, ratio=ratio or None, no_wrap=not ratio, overflow="fold")
        for row in rows:
            table.add_row(*(Text(_flat(cell), style=_style(cell)) for cell in row))
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
    return VERDICT_STYLES.get(cell, "")


def _flat(cell: str) -> str:
    return " ".join(cell.split())


def _console(stream: Stream) -> Any:
    from rich.console import Console

    return Console(file=stream, highlight=False)
