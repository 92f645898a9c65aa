"""Both ways of reading a module see the same gates: a watch's, and those of the graph's own run, in order."""

from functools import partial

import pytest
import torch

from networks.exported import kept
from networks.fully_connected import Skipping, fully_connected
from networks.residual import ResNet18
from penstock.gates.recording import capture
from penstock.walk.reading import read
from penstock.walk.step import Step

#: How a graph spells the calls that a watch takes for gates.
GATES = {
    "relu",
    "leaky_relu",
    "prelu",
    "abs",
    "hardtanh",
    "clamp_min",
    "silu",
    "gelu",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_pool2d_with_indices",
    "adaptive_max_pool2d",
}

NETWORKS = {
    "fully connected": lambda: (fully_connected(3, 8, 8, 2), (3,)),
    "with a skip": lambda: (Skipping(), (3,)),
    "residual, pooled": lambda: (ResNet18(width=4, pooled=True), (3, 16, 16)),
    **{
        name: partial(kept, name)
        for name in (
            "max-pooling",
            "pooling, adaptive",
            "batch norm",
            "activations",
            "dense",
            "squeeze and excite",
            "attention",
            "recurrence, written out",
            "tied",
            "a layer called twice",
            "weight norm",
            "pruned",
            "hooks",
            "in place, with an alias",
            "in place on the input",
            "no parameters",
        )
    },
}


@pytest.mark.parametrize("name", NETWORKS)
def test_both_ways_of_reading_see_the_same_gates(name: str):
    model, shape = NETWORKS[name]()
    model.double().eval()
    x = torch.randn(5, *shape, dtype=torch.float64)
    record = capture(model, x)
    graph = read(model, x)
    with torch.no_grad():
        values = graph.run(x)
    steps: list[Step] = [step for step in graph.steps if step.operation in GATES and step.item in (None, 0)]
    assert len(steps) == len(record)
    for (gate, layer), step in zip(record.items(), steps, strict=True):
        assert torch.equal(layer.pattern(), layer.kind.read(values[step.signals[0]])), (gate, str(step.place))
