"""What a question of speed is, and how it is measured."""

import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

__all__ = ["Bench", "Figure", "Timings", "in_turns"]


@dataclass(frozen=True)
class Figure:
    """One line of an answer: what Penstock needs beside what its peer needs, in one unit."""

    what: str
    ours: float
    peer: float
    peer_is: str
    unit: str = "s"
    target: str = ""
    """What the ratio should be, in words, if there is such a thing."""
    met: bool | None = None
    """Whether it is."""
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """The peer's figure over ours: above 1 where Penstock is the faster or the smaller."""
        return self.peer / self.ours


@dataclass(frozen=True)
class Bench:
    """A question, and what answers it: at full size, or at a small one that only tries the code."""

    question: str
    measure: Callable[[bool], Iterator[Figure]]
    """Called with True for the small size."""


@dataclass(frozen=True)
class Timings:
    """The seconds of every run of one of the ways."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """The slowest run over the fastest."""
        return max(self.seconds) / min(self.seconds)


def in_turns(
    ways: Mapping[str, Callable[[], object]], *, rounds: int, warm_up: int = 1
) -> dict[str, Timings]:
    """Times each way once a round, so that whatever else the machine does falls on all of them alike."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(warm_up + rounds):
        for name, way in ways.items():
            began = time.perf_counter()
            # kept until the clock has stopped: to free a large result takes time as well
            result = way()
            ended = time.perf_counter()
            del result
            if turn >= warm_up:
                seconds[name].append(ended - began)
    return {name: Timings(tuple(each)) for name, each in seconds.items()}
