"""`path_norm`: the norm of all path values at once."""

import math
import random
from collections.abc import Sequence
from numbers import Real

import numpy as np
import torch
from torch import nn

from penstock.decoupled.network import GatedNetwork
from penstock.errors import PenstockError
from penstock.gates.unseen import check_visible
from penstock.model import describe, left_as_found
from penstock.paths.asking import check_output, example
from penstock.paths.onepass.measures import Norm
from penstock.paths.onepass.passing import check_apart, passed

__all__ = ["path_norm"]


def path_norm(
    model: nn.Module,
    p: float | int = 1,
    *,
    input_shape: Sequence[int] | None = None,
    output: int = 0,
    log: bool = False,
) -> float:
    """‖v_Θ‖_p = (Σ_paths |v_Θ(path)|^p)^(1/p), the norm of `npv` (N Definition 2.1), by one pass of the
    module with |w|^p in the place of every weight w and all gates open; no path is listed.

    As in `npv`, a BatchNorm's scale is a weight and its shift a bias, averages are weights of 1/k, and each
    bias starts paths of its own. LeakyReLU is open, and every entry of a max-pooling's window counts. Of a
    `GatedNetwork` it is the norm of its value network. Reckoned in float64; `log=True` gives the natural
    logarithm, for a norm that float64 cannot hold.

    >>> layer = nn.Linear(2, 1, bias=False)
    >>> math.isclose(path_norm(layer, 2), npv(layer).norm(), rel_tol=1e-6)
    True
    """
    _check_power(p)
    if isinstance(model, GatedNetwork):
        model = model.value
    x = example(model, input_shape)
    check_visible(model)
    sums = passed(model, x, Norm(float(p)))
    check_output(tuple(sums.shape[1:]), output)
    check_apart(model, x)
    with left_as_found(model):
        _draw_one()
        again = passed(model, x[:-1], Norm(float(p)))
    if not torch.allclose(sums[:-1], again, rtol=1e-9, atol=1e-9):
        raise PenstockError(
            f"the weights of {describe('', model)} are others in every run, or for every number of examples; "
            "take what is random in its forward, and the size of the batch, out of it"
        )
    found = float(sums[0, output]) / p
    if math.isnan(found) or found == math.inf:
        raise PenstockError(
            f"the path norm at p={p} leaves even the range of logarithms; look at the weights"
        )
    return found if log else _plain(found)


def _draw_one() -> None:
    """Moves every random state on, so that what a module draws is another number than before."""
    random.random()
    np.random.rand()
    torch.rand(())


def _plain(log: float) -> float:
    try:
        norm = math.exp(log)
    except OverflowError:
        norm = math.inf
    if norm == math.inf or (norm == 0 and log > -math.inf):
        raise PenstockError(
            f"the path norm is e^{log:.6g}, which float64 cannot hold; ask for its logarithm with log=True"
        )
    return norm


def _check_power(p: object) -> None:
    if not isinstance(p, Real) or isinstance(p, bool) or not 1 <= float(p) < math.inf:
        raise PenstockError(
            f"a path norm's p is a finite number from 1 on, not {p!r}; where they can be listed, the largest "
            "|value| is penstock.npv(model).abs().max()"
        )
