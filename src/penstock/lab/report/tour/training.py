"""The same network while it learns: when its gates flip, and what the tangent kernel does then (N Definition 3.3)."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

import penstock
from penstock.gates.switching import Switch
from penstock.lab.models.toy import toy_inputs, toy_network

__all__ = ["STEPS", "Instant", "Stretch", "Training", "train"]

STEPS = 72
STEP_SIZE = 3e-4
MOMENTUM = 0.9
OTHERS = 9
"""Points on a circle around the three inputs, learnt with them."""
RADIUS = 3.0


@dataclass(frozen=True)
class Instant:
    """K(s, s) for each input at a time, counted in steps."""

    time: float
    kernel: tuple[float, ...]


@dataclass(frozen=True)
class Stretch:
    """The time between two flips, during which every gate of every input stands still."""

    begin: float
    end: float
    gates: list[Tensor]
    """One layer after the other, n × units."""


@dataclass(frozen=True)
class Training:
    """A few steps of training, looked at between the steps."""

    losses: list[float]
    """Before each step, and after the last."""
    outputs: list[tuple[float, ...]]
    """ŷ of each input, likewise."""
    targets: tuple[float, ...]
    flips: list[Switch]
    instants: list[Instant]
    """At every step, and on both sides of every flip."""
    stretches: list[Stretch]


def train(follow: Callable[[Iterable[int]], Iterable[int]] = iter) -> Training:
    """Gradient descent with momentum from the toy of N Figure 1 towards ŷ = -x(2)."""
    model, probe = toy_network(), toy_inputs()
    x = _points(probe)
    y = -x[:, 1:]
    optimizer = torch.optim.SGD(model.parameters(), lr=STEP_SIZE, momentum=MOMENTUM)
    switches = penstock.Switches(model, probe)
    course = [_weights(model)]
    losses, outputs = [], []
    for _ in follow(range(STEPS)):
        loss = _look(model, x, y, probe, losses, outputs)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        switches.step()
        course.append(_weights(model))
    _look(model, x, y, probe, losses, outputs)
    times = sorted({*range(STEPS + 1), *(end for flip in switches.found for end in (flip.lo, flip.hi))})
    return Training(
        losses=losses,
        outputs=outputs,
        targets=tuple(y[: len(probe), 0].tolist()),
        flips=list(switches.found),
        instants=[_instant(model, probe, course, time) for time in times],
        stretches=_stretches(model, probe, course, switches.found),
    )


def _points(probe: Tensor) -> Tensor:
    """The three inputs, and others around them."""
    angle = torch.arange(OTHERS, dtype=probe.dtype) * (2 * math.pi / OTHERS) + 0.3
    return torch.cat([probe, RADIUS * torch.stack([angle.cos(), angle.sin()], dim=1)])


def _look(model: nn.Module, x: Tensor, y: Tensor, probe: Tensor, losses: list[float], outputs: list[Any]) -> Tensor:
    prediction = model(x)
    loss = ((prediction - y) ** 2).mean()
    losses.append(loss.item())
    outputs.append(tuple(prediction.detach()[: len(probe), 0].tolist()))
    return loss


def _weights(model: nn.Module) -> list[Tensor]:
    return [weight.detach().clone() for weight in model.parameters()]


def _at(model: nn.Module, course: list[list[Tensor]], time: float) -> nn.Module:
    """The model with the weights of a time: on the line between those of two steps."""
    step = min(int(time), len(course) - 2)
    with torch.no_grad():
        for weight, before, after in zip(model.parameters(), course[step], course[step + 1], strict=True):
            weight.copy_(torch.lerp(before, after, time - step))
    return model


def _instant(model: nn.Module, probe: Tensor, course: list[list[Tensor]], time: float) -> Instant:
    features = penstock.npf(_at(model, course, time), probe)
    kernel = features @ penstock.vtk(model) @ features.T
    return Instant(float(time), tuple(kernel.diagonal().tolist()))


def _stretches(model: nn.Module, probe: Tensor, course: list[list[Tensor]], flips: list[Switch]) -> list[Stretch]:
    cuts = [0.0, *(flip.hi for flip in flips), float(len(course) - 1)]
    found = []
    for begin, end in zip(cuts, cuts[1:], strict=False):
        gates = list(penstock.capture(_at(model, course, begin), probe).to_dense().values())
        found.append(Stretch(begin, end, gates))
    return found
