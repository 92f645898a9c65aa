"""Work shared out among threads, strip by strip, each thread taking the next as it becomes free."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["in_strips"]


def in_strips(work: Callable[[int], None], strips: range, threads: int) -> None:
    """Calls `work` with the start of every strip; at once, if there is one thread or one strip."""
    if threads == 1 or len(strips) <= 1:
        for start in strips:
            work(start)
        return
    # made for this call alone: a pool that is kept does not survive a fork
    with ThreadPoolExecutor(min(threads, len(strips))) as pool:
        for _ in pool.map(work, strips):
            pass
