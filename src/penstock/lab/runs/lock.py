"""One process at a time: a lock that the system itself releases when its holder dies."""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from penstock.files import cannot_write

__all__ = ["exclusive"]

PAUSE = 0.2

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            # a byte far beyond the content, so that others can still read who holds the lock
            os.lseek(handle, 1 << 30, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import errno
    import fcntl

    _HELD_BY_ANOTHER = {errno.EAGAIN, errno.EACCES}
    _NO_LOCKS_HERE = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if (
                error.errno in _NO_LOCKS_HERE
            ):  # some network file systems; every write is still whole or absent
                return True
            if error.errno in _HELD_BY_ANOTHER:
                return False
            raise
        return True


@contextlib.contextmanager
def exclusive(path: Path, waiting: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock file `path`; `waiting` is told once who has it, where another process does."""
    try:
        handle = _acquire(path, waiting)
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        yield
    finally:
        # removed while still held: whoever waits on this very file then finds it nameless, and opens a new
        # one
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(handle)


def _acquire(path: Path, waiting: Callable[[str], None]) -> int:
    told = False
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            locked = _try_lock(handle)
            if locked and _is_still_named(handle, path):
                os.ftruncate(handle, 0)
                os.lseek(handle, 0, os.SEEK_SET)
                os.write(handle, str(os.getpid()).encode())
                return handle
            if not locked and not told:
                holder = os.pread(handle, 20, 0).decode() if hasattr(os, "pread") else ""
                waiting(holder)
                told = True
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        if not locked:
            time.sleep(PAUSE)


def _is_still_named(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
