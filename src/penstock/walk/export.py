"""`torch.export`, made to serve any batch.

`torch.export` runs the module once on stand-ins for its tensors and writes down every torch operation that
happens: in-place operations on aliases, hooks, weight norm and pruning included. The batch is a symbol
(`Dim.DYNAMIC`; `AUTO` would silently fix it). Decomposition with an empty table then leaves one spelling per
operation and no in-place ones.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram

from penstock.walk.quiet import without_torchs_logs
from penstock.walk.regions import keep_regions

__all__ = ["ForwardFailed", "exported"]

Around = Callable[[Tensor], AbstractContextManager[object]]


class ForwardFailed(Exception):
    """The module's forward raised (the cause) while it was being exported."""


def exported(model: nn.Module, rows: Tensor, *, around: Around | None = None) -> ExportedProgram:
    """The module's program, in functional form, with the module below a root of ours as `model`.

    `around` gives what to enter while forward runs, from the stand-in that it runs on.
    """
    # a stand-in of one row would be taken for a number that is always 1
    example = rows[:1].expand(2, *rows.shape[1:]).clone()
    root = _Root(model, around or (lambda x: nullcontext()))
    with without_torchs_logs(), torch.enable_grad():
        program = torch.export.export(root, (example,), dynamic_shapes=({0: Dim.DYNAMIC},), strict=False)
        keep_regions(program)
        return program.run_decompositions({})


class _Root(nn.Module):
    """Above the user's module, so that hooks on it run and forward may take `*args`.

    What forward raises leaves as a cause, since torch prints whole graphs of the exceptions that it knows.
    """

    def __init__(self, model: nn.Module, around: Around):
        super().__init__()
        self.model = model
        self.training = model.training
        self.around = around

    def forward(self, x: Tensor) -> object:
        with self.around(x):
            try:
                return self.model(x)
            except Exception as error:
                raise ForwardFailed from error
