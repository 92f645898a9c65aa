"""Gates in a row: what a signal passes on its way from one node of a path to the next."""

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from penstock.walk.site import Site

__all__ = ["Strings"]


class Strings:
    """Numbers for strings of gates. String 0 is empty; every other is an earlier one with a gate added.

    Gates are numbered over the whole network, the gates of each gating step one after the other.
    """

    def __init__(self) -> None:
        self.gated: list[tuple[Site, int]] = []
        """The steps that gate, in order, and how many gates each has."""
        self._added: list[tuple[np.ndarray, np.ndarray]] = []
        self._gates, self._strings = 0, 1

    def gates_of(self, site: Site, gates: int) -> int:
        """The number of the first of a step's gates."""
        self.gated.append((site, gates))
        first, self._gates = self._gates, self._gates + gates
        return first

    def longer(
        self, string: Int64[np.ndarray, " strands"], gate: Int64[np.ndarray, " strands"]
    ) -> Int64[np.ndarray, " strands"]:
        """The strings with a gate added to each."""
        pairs, number = np.unique(np.stack([string, gate]), axis=1, return_inverse=True)
        self._added.append((pairs[0], pairs[1]))
        first, self._strings = self._strings, self._strings + pairs.shape[1]
        return first + number.reshape(-1)

    def values(self, gates: Float[Tensor, "n gates"]) -> Float[Tensor, "n strings"]:
        """What each string multiplies a signal by: the product of its gates, and 1 for the empty one."""
        values = gates.new_ones(len(gates), self._strings)
        first = 1
        for string, gate in self._added:
            last = first + len(gate)
            by = torch.from_numpy(gate).to(gates.device)
            values[:, first:last] = values[:, torch.from_numpy(string).to(gates.device)] * gates[:, by]
            first = last
        return values
