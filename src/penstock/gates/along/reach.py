"""Whether a neural path feature changes when a gate flips, without listing a path.

The feature of a path is its input times its gates (N Definition 2.1). So the flip of one gate changes a feature if, and
only if, some path through it has all its other gates open and starts at an input that is not zero, or at a bias. The sum
of all those paths' values, were the weights others, is

    what arrives at the unit  ×  the derivative of the outputs by what leaves it,

with gates held. Weights are drawn, positive and at random: where there is no such path, each term has a factor zero and
the product is zero exactly; where there is one, it is not zero. Inputs are taken by their size, and so are negative
factors of gates, so that nothing cancels. What multiplies 1/fan-in keeps the numbers in range however deep the network.

All this means something where the network with gates held is affine. Soft-max, a layer norm or a sigmoid between the
gates makes it not so; this is tried on the network itself, and the answer is then "unknown".
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from penstock.gates.along.line import Line, Weights
from penstock.gates.along.probe import Layer, Probe, Visitor
from penstock.gates.along.search import Flips
from penstock.gates.choice import Pooling
from penstock.gates.kind import Kind
from penstock.gates.kinds import Clipped, Magnitude, Rectifier

__all__ = ["Reach", "path_weights"]

# Of the size of the input: a hidden gate or a sigmoid may show only far away.
_DISTANCES = (1.0, 1e3, 1e6)
_AFFINE = 1e-9


class Reach:
    """Says of flips whether they change a neural path feature."""

    def __init__(self, probe: Probe):
        self.probe = probe
        self.generator = torch.Generator().manual_seed(0)
        self.known: bool | None = None
        """Whether paths mean anything in this module; None until it has been tried."""

    def changes(self, flips: Flips, line: Line, words: "Callable") -> Tensor:
        raise NotImplementedError
