"""`penstock demo`: the tour."""

import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from penstock.cli.arguments import Common, Flag, hint, parse
from penstock.cli.voice import Voice
from penstock.lab.runs.progress import Progress

__all__ = ["show_tour"]


@dataclass(frozen=True)
class Demo(Common):
    out: Annotated[Path, hint("(default: ./demo)", "FOLDER")] = Path("demo")
    """The folder that the page is written to, as index.html."""
    open: Flag = False
    """Show the page in the browser."""


def show_tour(arguments: Sequence[str]) -> int:
    """The tour: opens the network of N Figure 1 on three inputs, lists its paths, makes its kernels of
    them, trains it a little and finds the instants at which its gates flip. Then trains FC on digits in
    the five regimes of N Table 2 and watches its gates: about a minute.

    Writes a page that stands alone in one file, and ends with the line that says where it is.
    """
    command = parse(Demo, arguments, "penstock demo", show_tour.__doc__ or "")
    from penstock.lab.report.tour.guide import Guide, write_tour

    voice = Voice()
    progress = Progress()
    guide = Guide(voice.say, lambda steps: progress.follow(steps, "training"), progress.follow)
    page = write_tour(command.out, guide)
    voice.say(f"the page is {page.resolve()}")
    if command.open:
        webbrowser.open(page.resolve().as_uri())
    return 0
