"""Whether a graph gives what its module gives, and a row's result does not depend on the rows beside it.

Both are seen at once: the module is run on three rows, the graph on the same rows in other company.
"""

import random

import numpy as np
import torch
from torch import Tensor, nn

from penstock.model.found import left_as_found
from penstock.walk.graph import Graph
from penstock.walk.rows import in_other_company, taken_back

__all__ = ["agrees", "close", "tolerance"]

_TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 5e-2}


def agrees(graph: Graph, model: nn.Module, rows: Tensor) -> bool:
    """Whether the graph may be used in place of the module, as far as these rows can tell."""
    with left_as_found(model), torch.no_grad():
        _other_randomness()
        try:
            from_module = model(rows.clone())
            from_graph = graph.run(in_other_company(rows), keep=[graph.output])[graph.output]
        except torch.OutOfMemoryError:
            raise
        except Exception:
            return False
    return isinstance(from_module, Tensor) and close(from_module, taken_back(from_graph), tolerance(graph))


def tolerance(graph: Graph) -> float:
    """1e-10 in float64, 1e-4 in float32, and so on; that of the coarsest dtype that the graph computes in."""
    return max(_TOLERANCE.get(dtype, 0.0) for dtype in {graph.dtype, *(step.dtype for step in graph.steps)})


def close(one: Tensor, two: Tensor, tolerance: float) -> bool:
    """Whether two results are the same but for rounding, relative to the largest of the first."""
    if one.shape != two.shape or one.dtype != two.dtype:
        return False
    if not one.is_floating_point() or not one.numel():
        return torch.equal(one, two)
    size, difference = one.abs().amax(), (one - two).abs().amax()
    return bool(difference <= tolerance * size)


def _other_randomness() -> None:
    """Move every generator on: a number drawn while the module was exported must not be drawn again here."""
    random.random()
    np.random.rand()
    torch.rand(1)
