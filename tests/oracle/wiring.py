"""A network as what a path sees: scalar units joined by weighted edges.

`Wiring` is laid layer by layer. Every method takes the numbers of the units it reads, an integer array of the
signal's shape, adds units and edges one at a time, and returns the new units' numbers in the new shape:

    w = Wiring(1, 4, 4)
    h = w.relu(w.conv2d(w.inputs, conv.weight, conv.bias, padding=1))
    w.outputs = w.linear(w.flatten(h), fc.weight, fc.bias)

An edge's weight is a scalar tensor taken out of the user's own parameter, so autograd knows the way back. A
unit's value is its gate times the sum of weight times value over the edges that reach it. The kinds of units:

* `"plain"`: always open;
* `"relu"`: open (1) where the sum is positive, else the unit's `slope` (0 for ReLU);
* `"max"`: the first of the largest incoming values passes: the gate is on the edge.

Inputs come first, biases are edges of the bias's weight from a unit of their own that is always 1.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import SupportsInt

import numpy as np
import torch
from torch import Tensor, nn

Units = np.ndarray  # of unit numbers, in a signal's shape


@dataclass(frozen=True)
class Edge:
    source: int
    target: int
    weight: Tensor


@dataclass
class Unit:
    kind: str
    slope: float = 0.0
    incoming: list[Edge] = field(default_factory=list)
    outgoing: list[Edge] = field(default_factory=list)


class Wiring:
    one = torch.ones((), dtype=torch.float64)

    def __init__(self, *shape: int):
        self.units: list[Unit] = []
        self.inputs: Units = self._new("input", shape)
        self.biases: list[int] = []
        self.outputs: Units = np.zeros(0, dtype=int)

    # Laying

    def linear(self, sources: Units, weight: Tensor, bias: Tensor | None = None) -> Units:
        """On the last axis, as `nn.Linear`."""
        made = self._new("plain", (*sources.shape[:-1], weight.shape[0]))
        for place in np.ndindex(*sources.shape[:-1]):
            for i in range(weight.shape[0]):
                for j in range(weight.shape[1]):
                    self.join(sources[(*place, j)], made[(*place, i)], weight[i, j])
        if bias is not None:
            for place in np.ndindex(*made.shape):
                self.bias(made[place], bias[place[-1]])
        return made

    def conv2d(
        self,
        sources: Units,
        weight: Tensor,
        bias: Tensor | None = None,
        *,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        groups: int = 1,
        circular: bool = False,
    ) -> Units:
        """Channels × rows × columns. A tap on the zero padding is no edge; on circular padding it wraps."""
        channels, rows, columns = sources.shape
        made_channels, per_group, kernel_rows, kernel_columns = weight.shape
        height = (rows + 2 * padding - dilation * (kernel_rows - 1) - 1) // stride + 1
        width = (columns + 2 * padding - dilation * (kernel_columns - 1) - 1) // stride + 1
        assert channels == per_group * groups
        made = self._new("plain", (made_channels, height, width))
        for c, i, j in np.ndindex(*made.shape):
            group = c // (made_channels // groups)
            for k, a, b in np.ndindex(per_group, kernel_rows, kernel_columns):
                row = i * stride + a * dilation - padding
                column = j * stride + b * dilation - padding
                if circular:
                    row, column = row % rows, column % columns
                if 0 <= row < rows and 0 <= column < columns:
                    self.join(sources[group * per_group + k, row, column], made[c, i, j], weight[c, k, a, b])
        if bias is not None:
            for c, i, j in np.ndindex(*made.shape):
                self.bias(made[c, i, j], bias[c])
        return made

    def conv1d(self, sources: Units, weight: Tensor, bias: Tensor | None = None, **options) -> Units:
        """Channels × positions. `padding` only together with `circular` or zero: as `conv2d` on one row."""
        padding, circular = options.pop("padding", 0), options.pop("circular", False)
        stride, dilation, groups = (
            options.pop("stride", 1),
            options.pop("dilation", 1),
            options.pop("groups", 1),
        )
        assert not options
        _, columns = sources.shape
        made_channels, per_group, taps = weight.shape
        width = (columns + 2 * padding - dilation * (taps - 1) - 1) // stride + 1
        made = self._new("plain", (made_channels, width))
        for c, j in np.ndindex(*made.shape):
            group = c // (made_channels // groups)
            for k, b in np.ndindex(per_group, taps):
                column = j * stride + b * dilation - padding
                column = column % columns if circular else column
                if 0 <= column < columns:
                    self.join(sources[group * per_group + k, column], made[c, j], weight[c, k, b])
        if bias is not None:
            for c, j in np.ndindex(*made.shape):
                self.bias(made[c, j], bias[c])
        return made

    def batch_norm(self, sources: Units, norm: nn.modules.batchnorm._BatchNorm) -> Units:
        """In evaluation mode: per channel (the first axis) a weight γ/√(σ²+ε) and a bias β - μγ/√(σ²+ε)."""
        assert norm.running_var is not None
        assert norm.running_mean is not None
        scale = 1 / torch.sqrt(norm.running_var + norm.eps)
        scale = scale if norm.weight is None else scale * norm.weight
        shift = -norm.running_mean * scale
        shift = shift if norm.bias is None else shift + norm.bias
        made = self._new("plain", sources.shape)
        for place in np.ndindex(*sources.shape):
            self.join(sources[place], made[place], scale[place[0]])
        for place in np.ndindex(*sources.shape):
            self.bias(made[place], shift[place[0]])
        return made

    def relu(self, sources: Units, slope: float = 0.0) -> Units:
        """LeakyReLU where `slope` is not zero, |·| where it is -1."""
        made = self._new("relu", sources.shape, slope)
        for place in np.ndindex(*sources.shape):
            self.join(sources[place], made[place], self.one)
        return made

    def average_pool2d(
        self, sources: Units, kernel: int, *, stride: int | None = None, padding: int = 0
    ) -> Units:
        """Each output adds kernel² inputs with weight 1/kernel²; the padding counts, and is no edge."""
        return self._pool2d(sources, kernel, stride or kernel, padding, "plain", self.one / kernel**2)

    def max_pool2d(
        self, sources: Units, kernel: int, *, stride: int | None = None, padding: int = 0
    ) -> Units:
        return self._pool2d(sources, kernel, stride or kernel, padding, "max", self.one)

    def mean(self, sources: Units) -> Units:
        """Over all positions, per channel (the first axis)."""
        made = self._new("plain", sources.shape[:1])
        for c in range(sources.shape[0]):
            for source in sources[c].ravel():
                self.join(source, made[c], self.one / sources[c].size)
        return made

    def add(self, *terms: Units) -> Units:
        made = self._new("plain", terms[0].shape)
        for place in np.ndindex(*made.shape):
            for term in terms:
                self.join(term[place], made[place], self.one)
        return made

    def scale(self, sources: Units, factor: float) -> Units:
        made = self._new("plain", sources.shape)
        for place in np.ndindex(*made.shape):
            self.join(sources[place], made[place], self.one * factor)
        return made

    def flatten(self, sources: Units) -> Units:
        return sources.reshape(-1)

    def join(self, source: SupportsInt, target: SupportsInt, weight: Tensor) -> None:
        edge = Edge(int(source), int(target), weight)
        self.units[edge.source].outgoing.append(edge)
        self.units[edge.target].incoming.append(edge)

    def bias(self, target: SupportsInt, weight: Tensor) -> None:
        self.units.append(Unit("one"))
        self.biases.append(len(self.units) - 1)
        self.join(self.biases[-1], target, weight)

    # Running

    def order(self) -> Iterator[int]:
        """The units, each after all that it reads (they are laid so, but for the ones of the biases)."""
        done: set[int] = set()

        def visit(unit: int) -> Iterator[int]:
            if unit in done:
                return
            done.add(unit)
            for edge in self.units[unit].incoming:
                yield from visit(edge.source)
            yield unit

        for unit in range(len(self.units)):
            yield from visit(unit)

    def run(self, x: Tensor) -> "State":
        """One example, of the input's shape: every unit's value and every gate."""
        values: dict[int, Tensor] = {}
        sums: dict[int, Tensor] = {}
        gates: dict[int, float] = {}
        chosen: dict[int, Edge] = {}
        for place in np.ndindex(*self.inputs.shape):
            values[int(self.inputs[place])] = x[place]
        for number in self.order():
            unit = self.units[number]
            if unit.kind == "input":
                continue
            if unit.kind == "one":
                values[number] = torch.ones((), dtype=x.dtype)
                continue
            terms = [edge.weight * values[edge.source] for edge in unit.incoming]
            if unit.kind == "max":
                best = max(range(len(terms)), key=lambda k: terms[k].item())  # the first of equals
                chosen[number] = unit.incoming[best]
                values[number] = terms[best]
                continue
            total = torch.zeros((), dtype=x.dtype)
            for term in terms:
                total = total + term
            sums[number] = total
            gates[number] = 1.0 if unit.kind == "plain" or total.item() > 0 else unit.slope
            values[number] = gates[number] * total
        return State(values, sums, gates, chosen)

    def __call__(self, x: Tensor) -> Tensor:
        """examples × outputs"""
        rows = []
        for example in x:
            values = self.run(example).values
            rows.append(torch.stack([values[int(unit)] for unit in self.outputs.ravel()]))
        return torch.stack(rows)

    def _new(self, kind: str, shape: tuple[int, ...], slope: float = 0.0) -> Units:
        first = len(self.units)
        self.units += [Unit(kind, slope) for _ in range(int(np.prod(shape)))]
        return np.arange(first, len(self.units)).reshape(shape)

    def _pool2d(
        self, sources: Units, kernel: int, stride: int, padding: int, kind: str, weight: Tensor
    ) -> Units:
        channels, rows, columns = sources.shape
        height, width = (
            (rows + 2 * padding - kernel) // stride + 1,
            (columns + 2 * padding - kernel) // stride + 1,
        )
        made = self._new(kind, (channels, height, width))
        for c, i, j in np.ndindex(*made.shape):
            for a, b in product(range(kernel), range(kernel)):
                row, column = i * stride + a - padding, j * stride + b - padding
                if 0 <= row < rows and 0 <= column < columns:
                    self.join(sources[c, row, column], made[c, i, j], weight)
        return made


@dataclass(frozen=True)
class State:
    """What one example leaves: each unit's value, the sum that reaches it, its gate, a maximum's choice."""

    values: dict[int, Tensor]
    sums: dict[int, Tensor]
    gates: dict[int, float]
    chosen: dict[int, Edge]

    def gate(self, edge: Edge, kind: str) -> float:
        """What the unit that `edge` reaches does to a signal that comes along this edge."""
        if kind == "max":
            return 1.0 if self.chosen[edge.target] is edge else 0.0
        return self.gates[edge.target]


def wire_sequential(model: nn.Sequential, *shape: int) -> Wiring:
    """The wiring of a plain `nn.Sequential` in evaluation mode, for one example of this shape."""
    wiring = Wiring(*shape)
    signal = wiring.inputs
    for layer in model:
        signal = _LAYERS[type(layer)](wiring, signal, layer)
    wiring.outputs = signal
    return wiring


def _square(size: int | tuple[int, ...]) -> int:
    if isinstance(size, tuple):
        assert len(set(size)) == 1
        return size[0]
    return size


def _conv2d(wiring: Wiring, signal: Units, layer: nn.Conv2d) -> Units:
    assert isinstance(layer.padding, tuple)
    return wiring.conv2d(
        signal,
        layer.weight,
        layer.bias,
        stride=_square(layer.stride),
        padding=_square(layer.padding),
        dilation=_square(layer.dilation),
        groups=layer.groups,
        circular=layer.padding_mode == "circular",
    )


def _conv1d(wiring: Wiring, signal: Units, layer: nn.Conv1d) -> Units:
    assert isinstance(layer.padding, tuple)
    return wiring.conv1d(
        signal,
        layer.weight,
        layer.bias,
        stride=layer.stride[0],
        padding=layer.padding[0],
        dilation=layer.dilation[0],
        groups=layer.groups,
        circular=layer.padding_mode == "circular",
    )


def _pool(method: Callable[..., Units]) -> Callable[..., Units]:
    def lay(wiring: Wiring, signal: Units, layer: nn.AvgPool2d | nn.MaxPool2d) -> Units:
        return method(
            wiring,
            signal,
            _square(layer.kernel_size),
            stride=_square(layer.stride),
            padding=_square(layer.padding),
        )

    return lay


_LAYERS: dict[type[nn.Module], Callable[..., Units]] = {
    nn.Linear: lambda wiring, signal, layer: wiring.linear(signal, layer.weight, layer.bias),
    nn.Conv2d: _conv2d,
    nn.Conv1d: _conv1d,
    nn.BatchNorm1d: lambda wiring, signal, layer: wiring.batch_norm(signal, layer),
    nn.BatchNorm2d: lambda wiring, signal, layer: wiring.batch_norm(signal, layer),
    nn.ReLU: lambda wiring, signal, layer: wiring.relu(signal),
    nn.LeakyReLU: lambda wiring, signal, layer: wiring.relu(signal, layer.negative_slope),
    nn.AvgPool2d: _pool(Wiring.average_pool2d),
    nn.MaxPool2d: _pool(Wiring.max_pool2d),
    nn.Flatten: lambda wiring, signal, layer: wiring.flatten(signal),
    nn.Identity: lambda wiring, signal, layer: signal,
}
