"""`npf`: the neural path feature, each path's input times the gates on its way."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from penstock.model.checks import check
from penstock.model.inputs import Inputs, whole
from penstock.paths.asking import Asked, ask_about
from penstock.paths.hops import Hops
from penstock.paths.limit import check_memory
from penstock.paths.products import along_paths
from penstock.walk.graph import Graph
from penstock.walk.operation import meaning
from penstock.walk.site import Site

__all__ = ["npf"]


def npf(model: nn.Module, x: Inputs, *, output: int = 0) -> Float[Tensor, "n paths"]:
    """φ_x(p): the input of each path, times the gates on its way (N Definition 2.1).

    One row an example (the papers' Φ, transposed), in the order of `list_paths`. A path that begins with a
    bias has an input of 1. A gate is 0 or 1; below 0 LeakyReLU's and PReLU's is the slope and |·|'s is -1;
    SiLU's and GELU's is a number. Of max-pooling's window the largest has a gate of 1. ReLU6 above 6 is shut
    and adds a held 6: that is a path which begins there, with the feature 6. The model's output is
    `npf(model, x) @ npv(model)` (N Proposition 2.1).

    >>> npf(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)), torch.ones(5, 2)).shape
    torch.Size([5, 10])
    """
    check(model)
    x = whole(model, x)
    asked = ask_about(model, x, output)
    paths = asked.tally.paths
    asking = f"one feature for each and each of {len(x)} examples"
    check_memory(paths, asking, len(x) * paths * x.itemsize, x.device)
    with torch.no_grad():
        hops = asked.hops()
        strings = hops.strings.values(_gates(asked, hops, x))
        start = torch.cat([x.flatten(1), x.new_ones(len(x), 1)], 1)
        return along_paths(hops, start, strings, hops.string)


def _gates(asked: Asked, hops: Hops, x: Tensor) -> Float[Tensor, "n gates"]:
    """Every gate of the network, by the numbers that strings are made of."""
    gated = hops.strings.gated
    rows_are_examples = (_rows_are_examples(asked.graph, _read_by(site)) for site, _ in gated)
    if all(rows_are_examples):
        return _gates_of(asked.graph, gated, x)
    return torch.cat([_gates_of(asked.graph, gated, example) for example in x.split(1)])


def _gates_of(graph: Graph, gated: Sequence[tuple[Site, int]], x: Tensor) -> Float[Tensor, "n gates"]:
    values = graph.run(x, keep={_read_by(site) for site, _ in gated})
    found = [x.new_empty(len(x), 0)]
    for site, gates in gated:
        found.append(meaning(site.step, "gates")(site, values[_read_by(site)], len(x)))
        if found[-1].shape[1] != gates:
            raise site.refusal(f"has edges with {gates} gates and gives the values of {found[-1].shape[1]}")
    return torch.cat(found, 1)


def _read_by(site: Site) -> str:
    """The signal that a gating step reads."""
    return site.step.signals[0]


def _rows_are_examples(graph: Graph, signal: str) -> bool:
    return signal == graph.input or graph.step[signal].batch_first
