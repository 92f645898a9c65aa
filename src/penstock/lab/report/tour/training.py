"""The same network while it learns: when its gates flip, and what the tangent kernel does then (N
Definition 3.3)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

import penstock
from penstock.gates.switching import Switch
from penstock.lab.models.toy import toy_inputs, toy_network

__all__ = ["STEPS", "Instant", "Stretch", "Training", "train"]

STEPS = 60
STEP_SIZE = 3e-4
MOMENTUM = 0.9
TARGETS = (-3.0, 0.0, 12.0)


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
    """Gradient descent with momentum on ½ Σ (ŷ - y)² over the three inputs, from the toy of N Figure 1."""
    model, x = toy_network(), toy_inputs()
    y = torch.tensor(TARGETS, dtype=x.dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=STEP_SIZE, momentum=MOMENTUM)
    switches = penstock.Switches(model, x)
    course = [_weights(model)]
    losses, outputs = [], []
    for _ in follow(range(STEPS)):
        loss = _look(model, x, y, losses, outputs)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        switches.step()
        course.append(_weights(model))
    _look(model, x, y, losses, outputs)
    times = sorted(
        {*map(float, range(STEPS + 1)), *(end for flip in switches.found for end in (flip.lo, flip.hi))}
    )
    return Training(
        losses=losses,
        outputs=outputs,
        targets=TARGETS,
        flips=list(switches.found),
        instants=[_instant(model, x, course, time) for time in times],
        stretches=_stretches(model, x, course, switches.found),
    )


def _look(
    model: nn.Module, x: Tensor, y: Tensor, losses: list[float], outputs: list[tuple[float, ...]]
) -> Tensor:
    output = model(x)[:, 0]
    loss = ((output - y) ** 2).sum() / 2
    losses.append(loss.item())
    outputs.append(tuple(output.tolist()))
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


def _instant(model: nn.Module, x: Tensor, course: list[list[Tensor]], time: float) -> Instant:
    features = penstock.npf(_at(model, course, time), x)
    kernel = features @ penstock.vtk(model) @ features.T
    return Instant(time, tuple(kernel.diagonal().tolist()))


def _stretches(model: nn.Module, x: Tensor, course: list[list[Tensor]], flips: list[Switch]) -> list[Stretch]:
    cuts = [0.0, *(flip.hi for flip in flips), float(len(course) - 1)]
    found = []
    for begin, end in pairwise(cuts):
        gates = list(penstock.capture(_at(model, course, begin), x).to_dense().values())
        found.append(Stretch(begin, end, gates))
    return found
