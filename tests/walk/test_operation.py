"""What the walk knows of torch's operations, and how it speaks of those it does not know."""

from pathlib import Path

import pytest
import torch
from torch import nn

from penstock import PenstockError, count_paths, list_paths, npf, npv, vtk
from penstock.walk import ops
from penstock.walk.operation import Operation, accepted, has_meaning, operations
from penstock.walk.reading import read

OPERATIONS = Path(ops.__file__).parent
HELPERS = {"__init__", "gating", "pooling"}


def test_an_operation_of_torch_is_read_by_one_class():
    known = operations()
    reads = [overload for kind in _kinds(Operation) for overload in kind.reads]
    assert sorted(map(str, reads)) == sorted(map(str, known))
    assert len(reads) == len(set(reads))


def test_every_operation_has_a_title_and_says_how_it_continues_paths():
    for kind in {type(operation) for operation in operations().values()}:
        assert kind.title
        assert hasattr(kind, "edges")


def test_every_file_of_operations_has_its_test():
    written = {path.stem for path in OPERATIONS.glob("*.py")} - HELPERS
    tested = {path.stem.removeprefix("test_") for path in (Path(__file__).parent / "ops").glob("test_*.py")}
    assert written == tested


def test_an_operation_without_a_meaning_lacks_the_method():
    (step,) = read(nn.Sigmoid(), torch.randn(3, 2)).steps
    assert not has_meaning(step, "edges")
    (step,) = read(nn.ReLU(), torch.randn(3, 2)).steps
    assert has_meaning(step, "edges")
    assert not has_meaning(step, "count")


class Blocks(nn.Module):
    def __init__(self, inner: nn.Module):
        super().__init__()
        self.blocks = nn.Sequential(nn.Linear(4, 4), inner, nn.Linear(4, 1))

    def forward(self, x):
        return self.blocks(x)


@pytest.mark.parametrize(
    "inner", [nn.LayerNorm(4), nn.Softmax(1), nn.Sigmoid(), nn.GroupNorm(2, 4), nn.ELU()], ids=str
)
def test_a_refusal_names_the_layer_and_what_is_accepted(inner):
    with pytest.raises(PenstockError) as refused:
        count_paths(Blocks(inner))
    sentence = str(refused.value)
    assert "blocks.1" in sentence
    assert sentence.endswith(", ".join(accepted("edges")))
    assert "\n" not in sentence


def test_a_refusal_names_the_line_of_an_inline_call():
    class Inline(nn.Module):
        def forward(self, x):
            return torch.tanh(x)

    with pytest.raises(PenstockError, match=r"tanh, line \d+ of test_operation.py"):
        count_paths(Inline(), input_shape=(4,))


@pytest.mark.parametrize(
    "layer", [nn.LSTM(4, 4, batch_first=True), nn.RNN(4, 4, nonlinearity="relu", batch_first=True)], ids=str
)
def test_recurrent_layers_are_refused_by_name(layer):
    class Last(nn.Module):
        def __init__(self):
            super().__init__()
            self.recurrent = layer

        def forward(self, x):
            return self.recurrent(x)[0][:, -1]

    with pytest.raises(PenstockError, match="recurrent"):
        count_paths(Last(), input_shape=(3, 4))


@pytest.mark.parametrize(
    "question", [count_paths, list_paths, npv, vtk, lambda model: npf(model, torch.randn(2, 4))]
)
def test_every_question_about_paths_refuses_alike(question):
    with pytest.raises(
        PenstockError, match=r"no path is known to lead through blocks.1.* \(sigmoid\); accepted are"
    ):
        question(Blocks(nn.Sigmoid()))


def test_what_the_output_does_not_need_is_not_asked_for():
    class Aside(nn.Module):
        """Looks at a soft-max and does not use it."""

        def forward(self, x):
            torch.softmax(x, 1)
            return x.relu()

    assert count_paths(Aside(), input_shape=(4,)) == 1


def _kinds(base: type[Operation]) -> list[type[Operation]]:
    """The project's own, not those that other tests make."""
    found = [kind for kind in base.__subclasses__() if kind.__module__.startswith("penstock.")]
    return found + [further for kind in found for further in _kinds(kind)]
