"""Ctrl-C between two steps rather than within one."""

import signal
import threading
from types import FrameType

__all__ = ["Interruption"]


class Interruption:
    """Inside, the first Ctrl-C waits until `heed` is called; a second one does not.

    >>> with Interruption() as interruption:
    ...     for step in range(3):
    ...         interruption.heed()
    """

    def __init__(self):
        self._came = False
        self._before = None

    def heed(self) -> None:
        """Raise the `KeyboardInterrupt` that came, if one did."""
        if self._came:
            raise KeyboardInterrupt

    def __enter__(self) -> "Interruption":
        # signals reach the main thread alone, and only there can a handler be set
        if threading.current_thread() is threading.main_thread():
            self._before = signal.getsignal(signal.SIGINT)
            if self._before is not None:
                signal.signal(signal.SIGINT, self._wait)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _wait(self, number: int, frame: FrameType | None) -> None:
        if self._came:
            raise KeyboardInterrupt
        self._came = True
