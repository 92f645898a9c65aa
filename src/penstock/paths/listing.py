"""`list_paths`: all paths to one output, in the order of N Figure 1.

A list of paths holds the network's hops and which paths it is a list of, and no path: these are made when looked at,
one by one or all at once as arrays.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import overload

import numpy as np
from jaxtyping import Int64
from torch import nn

from penstock.paths.alphabet import Alphabet
from penstock.paths.asking import ask
from penstock.paths.hops import END, Hops, Layer
from penstock.paths.limit import check_memory
from penstock.paths.path import Path

__all__ = ["Bundles", "Paths", "list_paths"]

_SHOWN = 6


def list_paths(model: nn.Module, *, input_shape: Sequence[int] | None = None, output: int = 0) -> "Paths":
    """The paths to one output, as sequences of nodes, in the order of N Figure 1: lexicographic from the input.

    Paths that begin at input 0 come first, those that begin at a bias last, by the bias's layer. A path has a node for
    its input and one for each weight and each pooling that it passes, the last of them the output; gates, reshapes and
    additions make no nodes.

    >>> list_paths(nn.Sequential(nn.Linear(2, 2, bias=False), nn.ReLU(), nn.Linear(2, 1, bias=False)))
    4 paths
      x[0] → 0[0] → 2[0]
      x[0] → 0[1] → 2[0]
      x[1] → 0[0] → 2[0]
      x[1] → 0[1] → 2[0]
    """
    asked = ask(model, input_shape, output)
    paths, longest = asked.tally
    check_memory(paths, "the nodes of all of them", paths * longest * np.dtype(np.int64).itemsize)
    hops = asked.hops()
    return Paths(hops, np.arange(len(hops)))
