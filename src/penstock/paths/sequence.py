"""Paths in order, and bundles of them, as sequences that hold no path.

What is kept is the network's hops and the places of the paths in the order of all. A path is made when it is
looked at, or all are at once, as arrays.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import overload

import numpy as np
from jaxtyping import Int64

from penstock.paths.alphabet import Alphabet
from penstock.paths.hops import Hops
from penstock.paths.layer import END, Layer
from penstock.paths.path import Path

__all__ = ["Bundles", "Paths"]

# Paths that are made at a time when all are looked at one by one.
_BLOCK = 4096
# Paths that are shown at either end of a long list.
_SHOWN = 6


class Paths(Sequence[Path]):
    """Some of a network's paths, in order.

    `paths[3]` is a `Path`; a slice, or an array of numbers, gives the paths that it picks. Nodes and weights
    of all are there as arrays, a row a path.
    """

    def __init__(self, hops: Hops, ranks: range | Int64[np.ndarray, " paths"]):
        self._hops, self._ranks = hops, ranks

    @property
    def nodes(self) -> Int64[np.ndarray, "paths nodes"]:
        """The unit of every node; -1 for the 1 that a bias path begins with, -2 after a path's end."""
        return self._hops.unit[self._numbers]

    @property
    def layer(self) -> Int64[np.ndarray, "paths nodes"]:
        """The layer of every node, as a number into `layers`; -2 after a path's last node."""
        return np.where(self.nodes == END, END, self._hops.layer[self._numbers])

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The input, and every step that has nodes, in order."""
        return self._hops.layers

    @property
    def weights(self) -> Int64[np.ndarray, "paths weights"]:
        """The string of weights of each path, as numbers into `alphabet`; -1 after a path's last."""
        _, hop = self._follow()
        weight = self._hops.weight[hop]
        packed = np.take_along_axis(weight, np.argsort(weight < 0, axis=1, kind="stable"), axis=1)
        return packed[:, (packed >= 0).any(axis=0)]

    @property
    def alphabet(self) -> Alphabet:
        """What the numbers in `weights` stand for: `paths.alphabet[paths.weights[0, 0]]`."""
        return self._hops.alphabet

    @cached_property
    def bundles(self) -> "Bundles":
        """The paths that share a string of weights, together (D Section 4)."""
        return Bundles(self)

    def __len__(self) -> int:
        return len(self._ranks)

    @overload
    def __getitem__(self, index: int | np.integer) -> Path: ...
    @overload
    def __getitem__(self, index: slice | Int64[np.ndarray, " some"]) -> "Paths": ...

    def __getitem__(self, index: "int | np.integer | slice | Int64[np.ndarray, ' some']") -> "Path | Paths":
        if isinstance(index, slice):
            return Paths(self._hops, self._ranks[index])
        if isinstance(index, np.ndarray):
            return Paths(self._hops, np.asarray(self._ranks)[index])
        rank = self._ranks[index]
        return next(iter(Paths(self._hops, np.array([rank]))))

    def __iter__(self) -> Iterator[Path]:
        for first in range(0, len(self), _BLOCK):
            yield from self[first : first + _BLOCK]._made()

    def __repr__(self) -> str:
        count = f"{len(self):,} path" + ("s" if len(self) != 1 else "")
        if len(self) <= 3 * _SHOWN:
            return "\n  ".join([count, *map(repr, self)])
        return "\n  ".join([count, *map(repr, self[:_SHOWN]), "…", *map(repr, self[-_SHOWN:])])

    def _made(self) -> Iterator[Path]:
        layers, weights = self.layer, self.weights
        for units, own, string in zip(self.nodes, layers, weights, strict=True):
            nodes = units[units != END].tolist()
            yield Path(
                tuple(nodes),
                tuple(self.layers[number] for number in own[: len(nodes)].tolist()),
                tuple(self.alphabet[number] for number in string[string >= 0].tolist()),
            )

    def _follow(self) -> tuple[Int64[np.ndarray, " paths"], Int64[np.ndarray, "paths hops"]]:
        return self._hops.follow(np.asarray(self._ranks))

    @property
    def _numbers(self) -> Int64[np.ndarray, "paths nodes"]:
        """The nodes' numbers in the network, without the last hops, that all lead to the end."""
        root, hop = self._follow()
        return np.column_stack([root, self._hops.target[hop[:, :-1]]])


class Bundles(Sequence[Paths]):
    """The bundles of some paths, in the order of their first paths; each is a `Paths`.

    Three circular convolutions of width 2 over 3 positions, averaged, have 24 paths in 8 bundles of 3 (D
    Figure 9). The constants of averages belong to a string: the paths of a bundle have the same value.
    """

    def __init__(self, paths: Paths):
        self._paths = paths
        self.of_path: Int64[np.ndarray, " paths"] = _first_seen(_strings(paths.weights, len(paths.alphabet)))
        """The number of each path's bundle."""
        self._order = np.argsort(self.of_path, kind="stable")
        self._first = np.concatenate([[0], np.cumsum(np.bincount(self.of_path))])

    def __len__(self) -> int:
        return len(self._first) - 1

    @overload
    def __getitem__(self, index: int | np.integer) -> Paths: ...
    @overload
    def __getitem__(self, index: slice) -> list[Paths]: ...

    def __getitem__(self, index: int | np.integer | slice) -> Paths | list[Paths]:
        if isinstance(index, slice):
            return [self[number] for number in range(len(self))[index]]
        number = range(len(self))[index]
        return self._paths[self._order[self._first[number] : self._first[number + 1]]]

    def __repr__(self) -> str:
        return f"{len(self):,} bundles of {len(self._paths):,} paths"


def _strings(weights: Int64[np.ndarray, "paths weights"], letters: int) -> Int64[np.ndarray, " paths"]:
    """A number for each path that is the same where the strings are, grown letter by letter."""
    number = np.zeros(len(weights), dtype=np.int64)
    for letter in weights.T:
        number = np.unique(number * (letters + 1) + letter + 1, return_inverse=True)[1].reshape(-1)
    return number


def _first_seen(number: Int64[np.ndarray, " paths"]) -> Int64[np.ndarray, " paths"]:
    """The same numbers, renumbered in the order in which they come up."""
    _, first, which = np.unique(number, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return place[which.reshape(-1)]
