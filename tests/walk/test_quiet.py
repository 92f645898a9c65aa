"""torch's warnings and log lines are kept from the user, and from nobody else."""

import logging
import threading
import warnings

import pytest

from penstock.walk.quiet import without_torchs_logs, without_warnings


def test_warnings_are_kept_inside():
    with without_warnings():
        warnings.warn("of torch's own", FutureWarning, stacklevel=1)
    with pytest.warns(FutureWarning, match="mine"):
        warnings.warn("mine", FutureWarning, stacklevel=1)


class Heard(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def test_torchs_loggers_say_nothing_from_this_thread_and_go_on_in_others():
    torchs, heard = logging.getLogger("torch.fx.experimental.symbolic_shapes"), Heard()
    torchs.addHandler(heard)
    try:
        with without_torchs_logs():
            torchs.warning("from here")
            other = threading.Thread(target=torchs.warning, args=["from elsewhere"])
            other.start()
            other.join()
        torchs.warning("afterwards")
    finally:
        torchs.removeHandler(heard)
    assert heard.lines == ["from elsewhere", "afterwards"]
