"""Paths, one by one (N Section 2.1, Definitions 2.1 and 2.2).

The order is that of N Figure 1: lexicographic from the input, so that in the 2-3-3-1 network p1 … p9 start at
x(1) and p10 … p18 at x(2); where a unit feeds several layers, the one computed first comes first. Paths that
start at a bias come after those that start at an input, in the order of the biases.

Plain networks, given as a list of weight matrices, have their own lines (`chain`), so that the walk over a
wiring is itself checked against something simpler.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import torch
from torch import Tensor

from oracle.wiring import Edge, Wiring


@dataclass(frozen=True)
class Path:
    """A start (an input's or a bias's unit) and the edges that lead from it to the output."""

    start: int
    edges: tuple[Edge, ...]

    @property
    def nodes(self) -> tuple[int, ...]:
        return (self.start, *(edge.target for edge in self.edges))


def listed(wiring: Wiring, output: int = 0) -> list[Path]:
    """All paths to one output."""
    end = int(wiring.outputs.ravel()[output])
    found: list[Path] = []

    def walk(start: int, unit: int, edges: tuple[Edge, ...]) -> None:
        if unit == end:
            found.append(Path(start, edges))
        for edge in sorted(
            wiring.units[unit].outgoing, key=lambda edge: edge.target
        ):  # stable: parallel edges as laid
            walk(start, edge.target, (*edges, edge))

    for start in [*wiring.inputs.ravel().tolist(), *wiring.biases]:
        walk(start, start, ())
    return found


def values(paths: list[Path]) -> list[Tensor]:
    """v_Θ(p), the product of the weights along p, one differentiable scalar a path (N Definition 2.1 iii)."""
    return [math.prod((edge.weight.double() for edge in path.edges), start=Wiring.one) for path in paths]


def npv(paths: list[Path]) -> Tensor:
    return torch.stack(values(paths)).detach()


def activity(wiring: Wiring, paths: list[Path], x: Tensor) -> Tensor:
    """A_Θ(x, p), the product of the gates along p, examples × paths (N Definition 2.1 i)."""
    rows = []
    for example in x:
        state = wiring.run(example)
        rows.append(
            [math.prod(state.gate(e, wiring.units[e.target].kind) for e in path.edges) for path in paths]
        )
    return torch.tensor(rows, dtype=torch.float64)


def npf(wiring: Wiring, paths: list[Path], x: Tensor) -> Tensor:
    """φ(x, p) = x(I_0(p)) A(x, p), examples × paths; from a bias the input is 1 (N Definition 2.1 ii)."""
    pixels = {unit: k for k, unit in enumerate(wiring.inputs.ravel().tolist())}
    rows = []
    for example, active in zip(x, activity(wiring, paths, x), strict=True):
        flat = example.double().ravel()
        starts = [float(flat[pixels[p.start]]) if p.start in pixels else 1.0 for p in paths]
        rows.append([start * float(a) for start, a in zip(starts, active, strict=True)])
    return torch.tensor(rows, dtype=torch.float64)


def act(active: Tensor, s: int, t: int) -> set[int]:
    """Act(s, s'): the paths active for both examples (N Definition 2.2), from activities examples × paths."""
    return {p for p in range(active.shape[1]) if active[s, p] == 1 and active[t, p] == 1}


def shared_per_input(active: Tensor, inputs: int) -> Tensor:
    """Λ(s, s') = |Act(s, s')| / d_in (N Definition 2.2)."""
    n = active.shape[0]
    return torch.tensor(
        [[len(act(active, s, t)) / inputs for t in range(n)] for s in range(n)], dtype=torch.float64
    )


@dataclass(frozen=True)
class Chain:
    """The paths of a plain fully connected network: their nodes (None is a bias's 1) and what they carry."""

    nodes: list[tuple[int | None, ...]]
    npf: Tensor
    npv: Tensor
    values: list[Tensor]
    activity: Tensor


def chain(weights: Sequence[Tensor], biases: Sequence[Tensor] | None, x: Tensor, output: int = 0) -> Chain:
    """`weights[l]` is next × this, ReLU between (N Table 1). A bias path is (None, unit, …, output)."""
    widths = [weights[0].shape[1], *(w.shape[0] for w in weights)]
    depth = len(weights)
    gates = _chain_gates(weights, biases, x)
    nodes: list[tuple[int | None, ...]] = []
    values: list[Tensor] = []
    features: list[list[float]] = []
    activities: list[list[float]] = []
    # born = 0: the path begins at an input; born = l: at a bias of layer l
    for born in range(depth + 1 if biases else 1):
        later = [range(widths[layer]) for layer in range(born, depth)] + [[output]]
        for units in product(*later):
            value = torch.ones((), dtype=torch.float64)
            if born > 0:
                assert biases is not None
                value = value * biases[born - 1][units[0]]
            for step in range(len(units) - 1):
                value = value * weights[born + step][units[step + 1], units[step]]
            row_activity, row_feature = [], []
            for s in range(len(x)):
                passed = 1.0
                for step, unit in enumerate(units):
                    layer = born + step
                    if 1 <= layer < depth:
                        passed *= float(gates[layer - 1][s, unit])
                row_activity.append(passed)
                row_feature.append(passed * (float(x[s, units[0]]) if born == 0 else 1.0))
            nodes.append(units if born == 0 else (None, *units))
            values.append(value)
            features.append(row_feature)
            activities.append(row_activity)
    return Chain(
        nodes,
        torch.tensor(features, dtype=torch.float64).T,
        torch.stack(values).detach(),
        values,
        torch.tensor(activities, dtype=torch.float64).T,
    )


def _chain_gates(weights: Sequence[Tensor], biases: Sequence[Tensor] | None, x: Tensor) -> list[Tensor]:
    gates, z = [], x
    for layer, weight in enumerate(weights[:-1]):
        q = z @ weight.T + (biases[layer] if biases else 0)
        gates.append((q > 0).double())
        z = q * gates[-1]
    return gates
