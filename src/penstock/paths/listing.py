"""`list_paths`: the paths of a network, in the order of N Figure 1."""

from collections.abc import Sequence

from torch import nn

from penstock.paths.asking import ask
from penstock.paths.limit import check_memory
from penstock.paths.sequence import Paths

__all__ = ["list_paths"]

# Bytes of a node's number.
_NODE = 8


def list_paths(model: nn.Module, *, input_shape: Sequence[int] | None = None, output: int = 0) -> Paths:
    """The paths to one output as sequences of nodes, in the order of N Figure 1.

    That is lexicographic from the input: paths that begin at input 0 come first; where a unit feeds several
    layers, so does the one computed first. Paths that begin with a bias come last, by the bias's layer. A
    path has a node for its input and one for each weight and each pooling that it passes, the last being the
    output; gates, reshapes and sums make none.

    >>> list_paths(nn.Sequential(nn.Linear(2, 2, bias=False), nn.ReLU(), nn.Linear(2, 1, bias=False)))
    4 paths
      x[0] → 0[0] → 2[0]
      x[0] → 0[1] → 2[0]
      x[1] → 0[0] → 2[0]
      x[1] → 0[1] → 2[0]
    """
    asked = ask(model, input_shape, output)
    paths, longest = asked.tally
    check_memory(paths, "a list of their nodes", paths * longest * _NODE)
    return Paths(asked.hops(), range(paths))
