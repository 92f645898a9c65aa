"""How far a long piece of work is: a bar on a terminal, a plain line now and then elsewhere."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import IO, Any, Protocol, cast, runtime_checkable

__all__ = ["Progress", "Stream", "duration", "pace"]

# Seconds between two plain lines.
EVERY = 10.0


@runtime_checkable
class Stream(Protocol):
    """What is written to: standard output, standard error, or a string in a test."""

    def write(self, text: str, /) -> Any: ...
    def flush(self) -> Any: ...
    def isatty(self) -> bool: ...


class Progress:
    """Follows loops, also nested ones. Writes to standard error, so that results can be piped."""

    def __init__(self, stream: Stream | None = None):
        self.stream: Stream = stream or sys.stderr
        self._bars: Any = None
        self._open = 0

    def follow(self, steps: Iterable[Any], what: str, total: int | None = None) -> Iterator[Any]:
        """The same steps, followed."""
        if total is None and hasattr(steps, "__len__"):
            total = len(steps)  # type: ignore[arg-type]
        follow = self._bar if self.stream.isatty() else self._lines
        return follow(iter(steps), what, total)

    def _lines(self, steps: Iterator[Any], what: str, total: int | None) -> Iterator[Any]:
        begun = said = time.monotonic()
        for done, step in enumerate(steps, start=1):
            yield step
            now = time.monotonic()
            if now - said >= EVERY and done != total:
                said = now
                print(f"{what}: {pace(done, total, now - begun)}", file=self.stream, flush=True)

    def _bar(self, steps: Iterator[Any], what: str, total: int | None) -> Iterator[Any]:
        bars = self._bars = self._bars or self._new_bars()
        if self._open == 0:
            bars.start()
        self._open += 1
        begun = time.monotonic()
        task = bars.add_task(what, total=total, pace="")
        try:
            for done, step in enumerate(steps, start=1):
                yield step
                bars.update(task, completed=done, pace=pace(done, total, time.monotonic() - begun))
        finally:
            bars.remove_task(task)
            self._open -= 1
            if self._open == 0:
                bars.stop()

    def _new_bars(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bars

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[pace]}"))
        return Bars(*columns, console=Console(file=cast("IO[str]", self.stream)), transient=True)


def pace(done: int, total: int | None, seconds: float) -> str:
    """`300 of 1000, 52 a second, 14 s left`."""
    rate = done / seconds if seconds > 0 else 0.0
    speed = f"{rate:.3g} a second" if rate >= 1 or rate == 0 else f"{1 / rate:.3g} s each"
    if total is None:
        return f"{done}, {speed}"
    left = f", {duration((total - done) / rate)} left" if rate else ""
    return f"{done} of {total}, {speed}{left}"


def duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
