"""A step, a failure and a refusal say where they stand: the layer, and the line of the user's own file."""

import inspect
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from networks.residual import Block, ResNet18
from penstock.walk.place import Place, place_raised, source_in_trace, subject
from penstock.walk.reading import read


class Failing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(2, 2), nn.Linear(3, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)  # fails here


def line_of(function: object, text: str) -> int:
    """The number of the line of a function or class that has this text."""
    lines, first = inspect.getsourcelines(function)  # pyright: ignore[reportArgumentType]
    return first + next(i for i, line in enumerate(lines) if text in line)


def test_a_place_reads_as_path_and_line():
    assert str(Place("blocks.2.conv1", "", "line 31 of model.py")) == "blocks.2.conv1, line 31 of model.py"
    assert str(Place("blocks.2", "relu", "line 31 of model.py")) == "blocks.2.relu, line 31 of model.py"
    assert str(Place("", "relu", "")) == "relu"
    assert str(Place("", "", "")) == ""


def test_a_place_as_a_subject_names_the_layers_class():
    model = ResNet18(width=4)
    place = Place("layers.0.0.bn1", "", "line 21 of residual.py")
    assert subject(model, place) == "the layer layers.0.0.bn1 (BatchNorm2d), line 21 of residual.py"
    assert subject(model, Place("", "", "")) == "the model (ResNet18)"
    assert subject(model, Place("layers.0.0", "add", "")) == "layers.0.0.add"


def test_every_step_of_a_network_stands_at_its_own_layer_and_line():
    graph = read(ResNet18(width=4).eval(), torch.randn(2, 3, 8, 8))
    places = [str(step.place) for step in graph.steps]
    first = line_of(Block.forward, "self.bn1(self.conv1(x))")
    second = line_of(Block.forward, "self.bn2(self.conv2(out))")
    assert f"layers.1.0.conv1, line {first} of residual.py" in places
    assert f"layers.1.0.bn2, line {second} of residual.py" in places
    # one ReLU object, called twice
    assert f"layers.1.0.relu, line {first} of residual.py" in places
    assert f"layers.1.0.relu, line {second + 2} of residual.py" in places
    # inline calls have the function's name
    assert f"layers.1.0.add, line {second + 1} of residual.py" in places
    assert any(place.startswith("flatten, line") for place in places)


def test_a_failure_stands_at_the_innermost_layer_and_the_users_own_line():
    model = Failing()
    with pytest.raises(RuntimeError) as failure:
        model(torch.randn(1, 2))
    place = place_raised(model, failure.value)
    assert place.module == "inner.1"
    assert place.source == f"line {line_of(Failing.forward, '# fails here')} of test_place.py"


def test_of_a_printed_stack_the_innermost_own_line_counts():
    torchs = Path(torch.__file__).parent / "nn" / "functional.py"
    trace = f'File "/home/me/model.py", line 3, in forward\n  File "{torchs}", line 9, in relu'
    assert source_in_trace(trace) == "line 3 of model.py"
    assert source_in_trace(f'File "{torchs}", line 9') == ""
    assert source_in_trace('File "/tmp/ipykernel_12/345.py", line 2') == "line 2 of a notebook cell"
    assert source_in_trace(f'File "{inspect.__file__}", line 2') == ""
    assert (
        source_in_trace('File "/usr/lib/python3/dist-packages/timm/layers.py", line 2')
        == "line 2 of layers.py"
    )
