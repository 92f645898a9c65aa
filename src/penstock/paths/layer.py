"""Where the nodes of paths stand."""

from typing import NamedTuple

import numpy as np

__all__ = ["END", "ONE", "Layer"]

ONE, END = -1, -2
"""Units that no layer has: the 1 that biases start from, and what follows a path's last node."""


class Layer(NamedTuple):
    """The input, or a step that makes nodes, and the shape of one example there."""

    name: str
    shape: tuple[int, ...]

    def node(self, unit: int) -> str:
        """How a unit of the layer is written: `conv1[0, 2, 1]`."""
        if unit == ONE:
            return "1"
        index = ", ".join(str(int(place)) for place in np.unravel_index(unit, self.shape))
        return f"{self.name}[{index}]"
