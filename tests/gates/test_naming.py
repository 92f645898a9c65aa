"""A call is named by the path of its layer: `layer1.0.relu:2`, `<path>.<function>` for an inline call."""

from typing import Any

import pytest
import torch
from torch import nn

from networks.awkward import (
    Forms,
    MadeOnTheWay,
    Names,
    Nested,
    Recovering,
    SelfDeleting,
    Tied,
    WithHooks,
    shared_gate,
)
from networks.residual import ResNet18
from penstock import capture


class Inside(nn.Module):
    """An activation of the user's own: its ReLU is an inline call of it."""

    def forward(self, x):
        return torch.relu(x)


class ByForward(nn.Module):
    """Calls a child's forward, which is no call of the child."""

    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act.forward(x)


class Recursive(nn.Module):
    """A layer that calls itself."""

    def __init__(self):
        super().__init__()
        self.depth = 3

    def forward(self, x, depth=0):
        return torch.relu(x - 1) if depth == self.depth else self(torch.relu(x), depth + 1)


def names(model, features=4):
    torch.manual_seed(0)
    return capture(model, torch.randn(3, features)).names


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (shared_gate(), ("1", "1:2", "1:3")),
        (nn.ReLU(), ("relu",)),
        (Inside(), ("relu",)),
        (nn.Sequential(Inside(), nn.Sequential(Inside())), ("0.relu", "1.0.relu")),
        (nn.ModuleDict({"a": Inside()})["a"], ("relu",)),
        (ByForward(), ("relu",)),
        (Recursive(), ("relu", "relu:2", "relu:3", "relu:4")),
        (Tied(), ("relu", "relu:2", "block.1", "block.1:2")),
        (WithHooks(), ("first.relu",)),
        (MadeOnTheWay(), ("relu", "relu:2")),
        (Nested(3), ("relu", "inside.relu", "inside.inside.relu")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_names_are_paths(model, expected):
    assert names(model) == expected


def test_names_that_could_be_taken_for_one_another_are_not():
    found = names(Names())
    assert found == ("relu", "relu:2", "relu:2:2")
    assert len(set(found)) == 3


def test_one_function_in_all_its_forms_has_one_name():
    assert names(Forms(), 5) == (
        *("act", "relu", "relu:2", "relu:3", "relu:4", "relu:5"),
        *("clamp", "clamp:2", "clamp_min", "clip", "threshold", "relu:6"),
    )


def test_a_block_that_calls_one_object_twice():
    record = capture(ResNet18(width=4).eval(), torch.randn(2, 3, 32, 32))
    assert record.names[:3] == ("stem.2", "layers.0.0.relu", "layers.0.0.relu:2")
    assert len(record) == 17


def test_an_exception_inside_a_layer_leaves_no_name_behind():
    assert names(Recovering()) == ("broken.0", "relu", "sound.1")


def test_depth_is_no_obstacle():
    assert names(Nested(60))[-1] == "inside." * 59 + "relu"


def test_a_layer_that_is_gone_was_still_called_by_its_name():
    assert names(SelfDeleting()) == ("once",)


def test_a_compiled_model_has_the_names_of_the_model():
    assert names(torch.compile(shared_gate(), backend="eager")) == ("1", "1:2", "1:3")
    compiled: Any = torch.compile(shared_gate(), backend="eager")
    inside = nn.Sequential(compiled)
    inside(torch.randn(3, 4))
    assert names(inside) == ("0.1", "0.1:2", "0.1:3")


def test_a_model_compiled_in_place_has_the_names_of_the_model():
    model = shared_gate()
    model.compile(backend="eager")
    model(torch.randn(3, 4))
    assert names(model) == ("1", "1:2", "1:3")


def test_traced_graphs_have_the_names_of_their_modules():
    assert names(torch.fx.symbolic_trace(shared_gate())) == ("1", "1:2", "1:3")
