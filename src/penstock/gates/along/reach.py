"""Whether a neural path feature changes when a gate flips, without listing a path.

The feature of a path is its input times its gates (N Definition 2.1). So the flip of one gate changes a
feature if, and only if, some path through it has all its other gates open and starts at an input that is
not zero, or at a bias. Summed over all those paths, the features times values are

    what arrives at the unit  ×  the derivative of the outputs by what leaves it,

with gates held. The values asked for here are not the network's own: every weight and bias is drawn afresh,
positive and at random. Where there is no such path, each term has a factor zero and the product is zero
exactly; where there is one, it is not. Inputs and the factors of shut gates are taken by their size, so
that nothing cancels; weights are of the size of 1/fan-in, so that the deepest network stays within float64.

All this means something where the network with its gates held is affine, which `record.verify` proves.
Soft-max, a layer norm or a sigmoid between the gates makes it not so, and the answer is then "unknown".
"""

from collections import defaultdict
from functools import cached_property

import torch
from jaxtyping import Bool, Int64, Shaped
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from penstock.errors import PenstockError
from penstock.gates.along.line import Line
from penstock.gates.along.probe import Layer, Probe, Visitor
from penstock.gates.along.search import Flips
from penstock.gates.choice import Pooling
from penstock.gates.kind import Kind
from penstock.gates.kinds import Clipped, Magnitude, Rectifier
from penstock.gates.recording import capture
from penstock.model.copies import float64_copy

__all__ = ["Reach"]

# How many gates, over all examples of one run, are held in memory at once.
_AT_ONCE = 2**23


class Reach:
    """Says of flips whether they change a neural path feature."""

    def __init__(self, probe: Probe):
        self.probe = probe

    def changes(self, flips: Flips, line: Line) -> Bool[Tensor, " k"] | None:
        """For each flip, whether a feature changes with it; None where that is unknown. Only while
        `probe.asking`.

        A gate that closes is looked at just before, one that opens just after: as it is then open itself,
        the paths that the flip breaks or makes are those open through it. So of several gates that flip
        between the same two places, each is told rightly.
        """
        if not len(flips):
            return flips.opened
        if self._model is None:
            return None
        points = torch.stack([flips.index + flips.opened, flips.example], dim=1)
        points, row = points.unique(dim=0, return_inverse=True)
        changed = torch.zeros_like(flips.opened)
        for start in range(0, len(points), self._rows_at_once):
            part = points[start : start + self._rows_at_once]
            mine = ((row >= start) & (row < start + len(part))).nonzero().flatten()
            changed[mine] = self._reached(part, row[mine] - start, flips.layer[mine], flips.gate[mine], line)
        return changed

    @cached_property
    def _model(self) -> nn.Module | None:
        """A float64 copy of the model with weights of paths, None where paths mean nothing in it, or lead
        through another network's gates.
        """
        if self.probe.gives_gates:
            return None
        try:
            capture(self.probe.model, self.probe.few).verify(self.probe.model, self.probe.few)
            return _with_path_weights(float64_copy(self.probe.model).eval())
        except PenstockError:
            return None

    @property
    def _rows_at_once(self) -> int:
        return max(1, _AT_ONCE // self.probe.gates)

    def _reached(
        self,
        points: Int64[Tensor, "rows 2"],
        row: Int64[Tensor, " k"],
        layer: Int64[Tensor, " k"],
        gate: Int64[Tensor, " k"],
        line: Line,
    ) -> Bool[Tensor, " k"]:
        """Whether an open path leads through these gates, all of them open in the rows of `points`."""
        states = _States()
        for index in points[:, 0].unique().tolist():
            self.probe.visit(line.at(index), points[points[:, 0] == index, 1], states)
        flipped = {number: layer == number for number in layer.unique().tolist()}
        held = _Held(states, {number: (row[mine], gate[mine]) for number, mine in flipped.items()})
        assert self._model is not None
        with torch.enable_grad():
            x = self.probe.x[points[:, 1]].double().abs()
            y = self.probe.run(self._model, {}, x, held)
            held.spread(y)
        reached = torch.zeros_like(row, dtype=torch.bool)
        for number, mine in flipped.items():
            reached[mine] = held.reached(self.probe.layers[number])
        return reached


def _with_path_weights(model: nn.Module) -> nn.Module:
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            fan_in = parameter[0].numel() if parameter.ndim > 1 else 1
            parameter.copy_(torch.rand(parameter.shape, generator=generator).add(0.5).div(fan_in))
            parameter.requires_grad_(False)
        for module in model.modules():
            # its shift starts paths also where it is zero, as a bias does
            if isinstance(module, _BatchNorm) and module.running_mean is not None:
                module.running_mean.fill_(-1)
    return model


class _States(Visitor):
    """The pattern of every call, examples first, over several runs."""

    def __init__(self):
        self.kinds: dict[str, Kind] = {}
        self.patterns: dict[str, list[Tensor]] = defaultdict(list)

    def see(self, layer: Layer, kind: Kind, q: Tensor, n: int) -> None:
        self.kinds[layer.name] = kind
        self.patterns[layer.name].append(layer.rows.first(kind.read(q), n))

    pass_by = see


class _Held(Visitor):
    """Holds gates at the states that were seen, and keeps what arrives at some of them and what it is
    worth.
    """

    def __init__(self, states: _States, flipped: dict[int, tuple[Tensor, Tensor]]):
        self.states, self.flipped = states, flipped
        self.arrived: dict[int, Tensor] = {}
        self.leaves: dict[int, Tensor] = {}

    def see(self, layer: Layer, kind: Kind, q: Tensor, n: int) -> Tensor:
        kind = self.states.kinds[layer.name]
        pattern = torch.cat(self.states.patterns[layer.name])
        if layer.number in self.flipped:
            pattern = _opened(kind, pattern, *self.flipped[layer.number])
        out = _by_size(kind, q, layer.rows.back(pattern))
        if layer.number not in self.flipped:
            return out
        self.arrived[layer.number] = layer.rows.first(out.detach(), n).reshape(n, -1)
        leaf = torch.zeros_like(self.arrived[layer.number], requires_grad=True)
        self.leaves[layer.number] = leaf
        return out + layer.rows.back(leaf.reshape(layer.rows.first(out, n).shape))

    pass_by = see

    def spread(self, y: Tensor) -> None:
        """Goes back from the outputs."""
        generator = torch.Generator().manual_seed(1)
        shares = torch.rand(y.shape[1:], generator=generator, dtype=torch.float64).add(0.5).to(y.device)
        gradients = torch.autograd.grad((y * shares).sum(), list(self.leaves.values()), allow_unused=True)
        self.worth = dict(zip(self.leaves, gradients, strict=True))

    def reached(self, layer: Layer) -> Bool[Tensor, " k"]:
        row, gate = self.flipped[layer.number]
        worth = self.worth[layer.number]
        if worth is None:
            return torch.zeros_like(row, dtype=torch.bool)
        # in max-pooling, the gates of a window share one output
        outputs = self.arrived[layer.number].shape[1]
        place = gate // (layer.gates // outputs)
        return (self.arrived[layer.number][row, place] != 0) & (worth[row, place] != 0)


def _opened(
    kind: Kind, pattern: Shaped[Tensor, "n *gates"], row: Int64[Tensor, " k"], gate: Int64[Tensor, " k"]
) -> Shaped[Tensor, "n *gates"]:
    """The pattern with these gates open, as they are but for rounding (a step's end is not looked at
    twice).
    """
    planes = [plane.reshape(len(pattern), -1).clone() for plane in kind.planes(pattern)]
    if isinstance(kind, Pooling):
        slots = pattern.shape[-1]
        planes[0].unflatten(1, (-1, slots))[row, gate // slots] = False
    for plane in planes:
        plane[row, gate] = False
    planes[0][row, gate] = True
    return kind.join(tuple(plane.reshape(pattern.shape) for plane in planes))


def _by_size(kind: Kind, q: Tensor, pattern: Tensor) -> Tensor:
    """The output with gates held and every factor taken by its size."""
    match kind:
        case Rectifier():
            slope = kind.slope.detach().abs() if isinstance(kind.slope, Tensor) else abs(kind.slope)
            return Rectifier(slope).apply(q, pattern)
        case Magnitude():
            return q
        case Clipped():
            ends = torch.where(pattern == Clipped.HELD, abs(kind.high), abs(kind.low)).to(q.dtype)
            return torch.where(pattern == Clipped.OPEN, q, ends)
        case Pooling():
            return kind.apply(q, pattern)
    return q * kind.value(pattern).to(q.dtype).abs()
