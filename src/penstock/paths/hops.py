"""A network's paths as hops from node to node, with all that lies between two nodes drawn together.

A path's nodes are the input that it starts at and then one for each weight and each pooling that it passes;
gates, reshapes and additions lie between. The 1 that biases start from is a node as well. Nodes are numbered
along the network: the inputs, the 1, then layer by layer, and last the end, which follows the last node of
every path. So hops ordered by where they start and then by where they lead make paths in the order of N
Figure 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Int64

from penstock.paths.alphabet import Alphabet
from penstock.paths.layer import END, Layer
from penstock.paths.ranges import segments
from penstock.paths.strings import Strings

__all__ = ["Hops", "Level"]


class Level(NamedTuple):
    """How the beginnings of all paths grow by one hop: each new one extends an earlier one by a hop."""

    earlier: Int64[np.ndarray, " beginnings"]
    hop: Int64[np.ndarray, " beginnings"]


@dataclass(frozen=True, eq=False)
class Hops:
    """The hops that lead to the output, in order; the last leads from the end to itself."""

    layers: tuple[Layer, ...]
    layer: Int64[np.ndarray, " nodes"]
    """Which layer a node belongs to."""
    unit: Int64[np.ndarray, " nodes"]
    """Its number there: `ONE` for the 1, `END` for the end."""
    origin: Int64[np.ndarray, " hops"]
    target: Int64[np.ndarray, " hops"]
    weight: Int64[np.ndarray, " hops"]
    """A number of the alphabet, or -1."""
    string: Int64[np.ndarray, " hops"]
    """The gates between the two nodes."""
    count: Int64[np.ndarray, " nodes"]
    """How many ways lead from a node to the end."""
    roots: int
    """The first so many nodes are where paths start."""
    alphabet: Alphabet
    strings: Strings

    def __len__(self) -> int:
        """The number of paths."""
        return int(self._through_roots[-1])

    def levels(self) -> Iterator[Level]:
        """All paths at once: each level adds one hop to every beginning, in the order of the paths."""
        node = np.flatnonzero(self.count[: self.roots])
        while (self.unit[node] != END).any():
            earlier, hop = segments(self._first[node], self._first[node + 1])
            node = self.target[hop]
            yield Level(earlier, hop)

    def follow(
        self, ranks: Int64[np.ndarray, " paths"]
    ) -> tuple[Int64[np.ndarray, " paths"], Int64[np.ndarray, "paths hops"]]:
        """The roots and hops of some paths, by their ranks; all as long as the longest, by the last hop."""
        root = np.searchsorted(self._through_roots, ranks, side="right") - 1
        node, rest, hops = root, ranks - self._through_roots[root], []
        while (self.unit[node] != END).any():
            hop = np.searchsorted(self._through, self._through[self._first[node]] + rest, side="right") - 1
            rest = rest - (self._through[hop] - self._through[self._first[node]])
            node = self.target[hop]
            hops.append(hop)
        return root, np.stack(hops, axis=1) if hops else np.zeros((len(ranks), 0), dtype=np.int64)

    @cached_property
    def _first(self) -> Int64[np.ndarray, " starts"]:
        """The first hop of every node."""
        return np.searchsorted(self.origin, np.arange(len(self.unit) + 1))

    @cached_property
    def _through(self) -> Int64[np.ndarray, " before"]:
        """How many ways to the end lead through all earlier hops."""
        return np.concatenate([[0], np.cumsum(self.count[self.target])])

    @cached_property
    def _through_roots(self) -> Int64[np.ndarray, " before"]:
        """How many paths start at all earlier roots."""
        return np.concatenate([[0], np.cumsum(self.count[: self.roots])])
