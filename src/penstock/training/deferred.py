"""Steps on a GPU: captured once as a CUDA graph, then replayed; looked at only now and then.

To ask after each step whether a loss is finite would make the processor wait for the GPU each time. So the
GPU keeps count itself: a member whose loss is not finite stays as it was before that step.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from penstock.training.flat import Flat
from penstock.training.stepping import Rows, Stepping

__all__ = ["Deferred"]

# Steps before one is captured: libraries take their workspaces then, and optimizers make their moments.
_WARM_UP = 3


class Deferred:
    """`alive` says which members still move; `good` counts the steps that each has taken, `taken` all."""

    def __init__(self, stepping: Stepping, flat: Flat, buffers: Mapping[str, Tensor], *, capturable: bool):
        device = flat.numbers.device
        self.alive: Bool[Tensor, " e"] = torch.ones(flat.members, dtype=torch.bool, device=device)
        self.good: Int[Tensor, " e"] = torch.zeros(flat.members, dtype=torch.int64, device=device)
        self.taken = 0
        self.why_not_captured = "" if capturable else "the way draws random numbers or looks things up"
        """Empty where a step is captured, or will be."""
        self._stepping, self._numbers, self._owners = stepping, flat.numbers, flat.owners()
        # what lies elsewhere is no part of the computation
        self._buffers = [each for each in buffers.values() if each.device == device]
        self._graph: torch.cuda.CUDAGraph | None = None
        self._rows: Rows | None = None

    def take(self, rows: Rows) -> None:
        """One step of each member that is alive."""
        self.taken += 1
        if not self._numbers.is_cuda:
            self._advance(rows)
            return
        if self._graph is None and self._may_capture(rows):
            self._capture(rows)
        if self._graph is not None and _alike(rows, self._rows):
            if isinstance(rows, Tensor) and isinstance(self._rows, Tensor):
                self._rows.copy_(rows)
            self._graph.replay()
        else:
            self._advance_aside(rows)

    def _advance(self, rows: Rows) -> None:
        before = self._numbers.clone()
        buffers = [each.clone() for each in self._buffers]
        self._stepping.gradients(rows)
        self.alive.logical_and_(torch.isfinite(self._stepping.totals[0]))
        self.good.add_(self.alive)
        self._stepping.move()
        self._numbers.copy_(torch.where(self.alive[self._owners], self._numbers, before))
        for now, was in zip(self._buffers, buffers, strict=True):
            moves = self.alive.view(-1, *[1] * (now.ndim - 1))
            now.copy_(torch.where(moves, now, was))

    def _advance_aside(self, rows: Rows) -> None:
        """On a stream of its own, as a graph wants its first steps."""
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            self._advance(rows)
        torch.cuda.current_stream().wait_stream(aside)

    def _may_capture(self, rows: Rows) -> bool:
        """The last batch of an epoch may be smaller: the shape that comes twice is the one to capture."""
        again = _alike(rows, self._rows)
        self._rows = rows
        return again and self.taken > _WARM_UP and not self.why_not_captured

    def _capture(self, rows: Rows) -> None:
        self._rows = rows.clone() if isinstance(rows, Tensor) else rows
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                self._advance(self._rows)
        except RuntimeError as error:
            self.why_not_captured = str(error).strip().splitlines()[0]
        else:
            self._graph = graph


def _alike(rows: Rows, others: Rows | None) -> bool:
    if isinstance(rows, Tensor):
        return isinstance(others, Tensor) and rows.shape == others.shape
    return rows == others
