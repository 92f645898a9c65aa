"""One line for whoever waits, after a second and not before."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["announced"]


@contextmanager
def announced(text: str, after: float = 1.0) -> Iterator[None]:
    """Say the line on the standard error stream if what stands inside takes longer than `after` seconds."""
    timer = threading.Timer(after, lambda: print(text, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
