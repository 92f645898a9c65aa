"""`active_paths`: how many paths each input leaves open."""

import torch
from jaxtyping import Float64
from torch import Tensor, nn

from penstock.decoupled.network import GatedNetwork
from penstock.errors import PenstockError
from penstock.gates.unseen import check_visible
from penstock.model import Inputs, batches, check
from penstock.paths.asking import check_output
from penstock.paths.onepass.measures import Counting
from penstock.paths.onepass.numbers import Logarithms, Plain
from penstock.paths.onepass.passing import check_apart, passed

__all__ = ["active_paths"]


def active_paths(model: nn.Module, x: Inputs, *, output: int = 0, log: bool = False) -> Float64[Tensor, " n"]:
    """|{p : A(x, p) ≠ 0}|, the number of paths to one output that are open for each input (N Definition 2.1,
    N Definition 2.2: Λ of an input with itself, for each of its nodes), by one pass and without a list.

    A path's activity A is the product of the gates on its way, as in `npf`: LeakyReLU, PReLU, |·| and smooth
    gates are open wherever they are not exactly 0; of max-pooling's window the largest is open; ReLU6 above 6
    is shut and starts a path. A weight counts by being there, also where it is 0, and each bias starts paths
    of its own. The input itself does not matter: an open path from an entry that is 0 is open.

    Read is every module that a watch reads and whose operations, gates aside, are affine; it may decide by
    its inputs what to compute. Of a `GatedNetwork` counted are the paths of its value network, under the
    gates that its feature network makes. Counts are float64, exact up to 2^53; `log=True` gives natural
    logarithms, where they would not fit.

    >>> active_paths(nn.Sequential(nn.Linear(2, 3), nn.LeakyReLU(), nn.Linear(3, 1)), torch.ones(2, 2))
    tensor([10., 10.], dtype=torch.float64)
    """
    check(model)
    check_visible(model)
    found: list[Tensor] = []
    for batch in batches(model, x):
        counts = passed(model, batch, Counting(Logarithms() if log else Plain()))
        if not found:
            check_output(tuple(counts.shape[1:]), output)
            check_apart(model.value if isinstance(model, GatedNetwork) else model, batch)
        found.append(counts[:, output].clone())
    every = torch.cat(found)
    if not log and not bool(torch.isfinite(every).all()):
        raise PenstockError("more paths are open than float64 can count, 10^308; ask with log=True")
    return every
