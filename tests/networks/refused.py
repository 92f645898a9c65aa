"""Networks that no graph can stand for, each for one reason; most are one line around a linear layer."""

import random
import warnings
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from networks.exported import Inline, Make, Shape

__all__ = ["UNREADABLE"]


class Drifting(nn.Module):
    """What it gives depends on how often it was called."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        return self.lin(x) * self.count


class StraightThrough(torch.autograd.Function):
    """A ReLU that lets every gradient through."""

    @staticmethod
    def forward(ctx: Any, q: Tensor) -> Tensor:
        return q.clamp(min=0)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return gradients[0]


class Recurrent(nn.Module):
    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)[0]


class TwoInputs(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x + y


def scripted() -> nn.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return nn.Sequential(nn.Linear(4, 4), torch.jit.script(nn.Sequential(nn.ReLU(), nn.Linear(4, 4))))


#: Networks that no graph of independent rows can stand for, with one example's shape and the refusal's words.
UNREADABLE: dict[str, tuple[Make, Shape, str]] = {
    # what depends on values
    "an if": (
        lambda: Inline(lambda m, x: m.lin(x) if x.sum() > 0 else x),
        (4,),
        "decides what to compute.*torch.where",
    ),
    "an assert": (
        lambda: Inline(lambda m, x: (torch._assert(x.sum() > -1e9, "no"), m.lin(x))[1]),
        (4,),
        "an assert",
    ),
    "an item": (
        lambda: Inline(lambda m, x: m.lin(x) * x.max().item()),
        (4,),
        "Python number out of a tensor",
    ),
    "a float of a parameter": (
        lambda: Inline(lambda m, x: m.lin(x) * float(m.lin.bias[0])),
        (4,),
        r"float\(\)",
    ),
    "arithmetic on an item": (
        lambda: Inline(lambda m, x: m.lin(x) * (2 * m.lin.bias[0].item())),
        (4,),
        "keep numbers tensors",
    ),
    "a boolean index": (lambda: Inline(lambda m, x: m.lin(x)[x > 0]), (4,), "a boolean index"),
    "nonzero": (lambda: Inline(lambda m, x: m.lin(x)[x.sum(1).nonzero()[:, 0]]), (4,), "nonzero"),
    "torch.cond": (
        lambda: Inline(lambda m, x: torch.cond(x.sum() > 0, lambda h: 2 * h, lambda h: 3 * h, (m.lin(x),))),
        (4,),
        "calls cond, which runs other graphs.*torch.where",
    ),
    # what loses the rows
    "a fixed view": (
        lambda: Inline(lambda m, x: m.lin(x).view(4, -1)),
        (4,),
        r"view, line \d+ of exported.py.*\(4, batch\)",
    ),
    "a fixed view of the batch": (
        lambda: Inline(lambda m, x: m.lin(x).view(2, 4)),
        (4,),
        r"line \d+ of refused.py works for one number of examples only",
    ),
    "a loop over the rows": (
        lambda: Inline(lambda m, x: torch.stack([m.lin(row) for row in x])),
        (4,),
        "a loop over the rows",
    ),
    "len": (lambda: Inline(lambda m, x: m.lin(x).view(len(x), -1)), (4,), r"len\(x\)"),
    "one number": (lambda: Inline(lambda m, x: m.lin(x).sum()), (4,), "without one row an example"),
    "flattened": (lambda: Inline(lambda m, x: m.lin(x).flatten()), (4,), r"\(4\*batch\)"),
    "transposed": (lambda: Inline(lambda m, x: m.lin(x).T), (4,), r"\(4, batch\)"),
    "the first two rows": (lambda: Inline(lambda m, x: m.lin(x)[:2]), (4,), "without one row an example"),
    # what mixes the rows
    "a mean over the batch": (
        lambda: Inline(lambda m, x: m.lin(x) - m.lin(x).mean(0)),
        (4,),
        "mixes examples",
    ),
    "a norm over the batch": (
        lambda: Inline(lambda m, x: m.lin(x) / x.norm()),
        (4,),
        "div, line .* mixes examples",
    ),
    "softmax over the batch": (
        lambda: Inline(lambda m, x: m.lin(x).softmax(0)),
        (4,),
        "softmax, line .* mixes",
    ),
    "the batch's size": (lambda: Inline(lambda m, x: m.lin(x) / x.shape[0]), (4,), "mixes examples"),
    "neighbors": (lambda: Inline(lambda m, x: m.lin(x) + x.roll(1, 0)), (4,), "mixes examples"),
    "batch statistics": (
        lambda: Inline(lambda m, x: F.batch_norm(m.lin(x), None, None, training=True)),
        (4,),
        "batch_norm, line .* mixes examples.*running statistics",
    ),
    "batch norm without statistics": (
        lambda: nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4, track_running_stats=False)),
        (4,),
        r"the layer 1 \(BatchNorm1d\).*track_running_stats=True",
    ),
    # what is not a function of the input
    "random numbers": (
        lambda: Inline(lambda m, x: m.lin(x) + torch.randn_like(x)),
        (4,),
        r"draws random numbers \(randn_like\)",
    ),
    "dropout for ever": (
        lambda: Inline(lambda m, x: F.dropout(m.lin(x))),
        (4,),
        "dropout, line .* draws random numbers",
    ),
    "Python's random numbers": (
        lambda: Inline(lambda m, x: m.lin(x) * random.random()),
        (4,),
        "two different outputs",
    ),
    "NumPy's random numbers": (
        lambda: Inline(lambda m, x: m.lin(x) * float(np.random.rand())),
        (4,),
        "two different outputs",
    ),
    "a drift": (Drifting, (4,), "two different outputs"),
    "nothing of the input": (
        lambda: Inline(lambda m, x: m.lin.weight[:3]),
        (4,),
        "does not depend on its input",
    ),
    # what export cannot see, or sees wrongly
    "NumPy": (lambda: Inline(lambda m, x: torch.from_numpy(m.lin(x).detach().numpy())), (4,), "leaves torch"),
    "data_ptr": (lambda: Inline(lambda m, x: m.lin(x) if x.data_ptr() else x), (4,), "leaves torch"),
    ".data": (lambda: Inline(lambda m, x: F.linear(x, m.lin.weight.data)), (4,), r"\.data of a parameter"),
    "told that it is exported": (
        lambda: Inline(lambda m, x: m.lin(x) * (2 if torch.compiler.is_exporting() else 1)),
        (4,),
        "does not give what Inline gives",
    ),
    "sparse": (
        lambda: Inline(lambda m, x: torch.sparse.mm(m.s, x.T).T, s=torch.eye(4).double().to_sparse()),
        (4,),
        "to_dense",
    ),
    "torch.func.grad": (
        lambda: Inline(lambda m, x: torch.func.grad(lambda y: m.lin(y).relu().sum())(x)),
        (4,),
        "write the derivative out",
    ),
    "scripted": (scripted, (4,), r"the layer 1 \(\w+\) is scripted or traced"),
    "an autograd Function": (
        lambda: Inline(lambda m, x: StraightThrough.apply(m.lin(x))),
        (4,),
        "StraightThrough, line",
    ),
    "a reentrant checkpoint": (
        lambda: Inline(lambda m, x: checkpoint(m.lin, x, use_reentrant=True)),
        (4,),
        "use_reentrant=False",
    ),
    # what is no module of one tensor
    "data parallel": (
        lambda: nn.DataParallel(nn.Linear(4, 4)).cpu(),
        (4,),
        r"the module inside, \.module",
    ),
    "lazy": (
        lambda: nn.Sequential(nn.LazyLinear(4)),
        (4,),
        r"the layer 0 \(LazyLinear\).*call model\(x\) once",
    ),
    "a tuple": (lambda: Inline(lambda m, x: (m.lin(x), x)), (4,), "penstock.adapt"),
    "a dictionary": (lambda: Inline(lambda m, x: {"logits": m.lin(x)}), (4,), r"model\(batch\)\['logits'\]"),
    "nothing": (lambda: Inline(lambda m, x: None), (4,), "returns nothing"),
    "two inputs": (TwoInputs, (4,), r"takes 2 arguments \(x, y\).*penstock.adapt"),
    "no forward": (lambda: nn.ModuleList([nn.Linear(4, 4)]), (4,), 'missing the required "forward"'),
    "an error of its own": (
        lambda: Inline(lambda m, x: {}["key"]),
        (4,),
        r"line \d+ of refused.py fails.*KeyError: 'key'",
    ),
    "the wrong size": (
        lambda: nn.Sequential(nn.Linear(5, 4)),
        (4,),
        r"the layer 0 \(Linear\) takes 5 features",
    ),
    "GRU": (
        lambda: Recurrent(nn.GRU(4, 3, batch_first=True)),
        (3, 4),
        r"the layer layer \(GRU\).*fused recurrent",
    ),
    "LSTM": (
        lambda: Recurrent(nn.LSTM(4, 3, batch_first=True)),
        (3, 4),
        r"the layer layer \(LSTM\).*fused recurrent",
    ),
    "RNN": (
        lambda: Recurrent(nn.RNN(4, 3, nonlinearity="relu", batch_first=True)),
        (3, 4),
        "fused recurrent",
    ),
}
