"""torch's warnings and log lines about itself, kept from whoever only asked for a graph."""

import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["without_torchs_logs", "without_warnings"]


@contextmanager
def without_warnings() -> Iterator[None]:
    """No warnings inside: a module that is run again to be compared would repeat its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def without_torchs_logs() -> Iterator[None]:
    """No lines of torch's loggers inside, from this thread; other threads keep theirs."""
    thread = threading.get_ident()

    def elsewhere(record: logging.LogRecord) -> bool:
        return record.thread != thread

    handlers = [handler for logger in _torchs_loggers() for handler in logger.handlers]
    for handler in handlers:
        handler.addFilter(elsewhere)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(elsewhere)


def _torchs_loggers() -> list[logging.Logger]:
    known = dict(logging.Logger.manager.loggerDict)
    return [
        one for name, one in known.items() if name.startswith("torch") and isinstance(one, logging.Logger)
    ]
