"""A module that was changed after it was read is read anew, whatever was changed, and read right."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrizations, prune

from penstock.errors import PenstockError
from penstock.walk.reading import read


class Net(nn.Module):
    """Something of everything that may be changed."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.first, self.last = nn.Linear(4, 5), nn.Linear(5, 2)
        self.norm, self.act = nn.BatchNorm1d(5), nn.LeakyReLU(0.1)
        self.scale, self.settings, self.function = 1.0, {"power": 1}, torch.relu
        self.table = torch.ones(5, dtype=torch.float64)
        self.double().eval()

    def forward(self, x: Tensor) -> Tensor:
        h = self.act(self.norm(self.first(x))) * self.scale + self.table
        return self.last(self.function(h) ** self.settings["power"])


SURROUNDINGS = {"factor": 1.0}


class Reaching(nn.Module):
    """Takes a number from where no fingerprint looks."""

    def forward(self, x: Tensor) -> Tensor:
        return x * SURROUNDINGS["factor"]


def a_value(model: Net) -> None:
    with torch.no_grad():
        model.first.weight.mul_(2)


def a_state(model: Net) -> None:
    model.load_state_dict(Net(seed=1).state_dict())


def an_assigned_state(model: Net) -> None:
    model.load_state_dict(Net(seed=1).state_dict(), assign=True)


def a_statistic(model: Net) -> None:
    model.norm.running_mean = torch.ones(5, dtype=torch.float64)


def a_parameter(model: Net) -> None:
    model.first.weight = nn.Parameter(torch.randn(5, 4, dtype=torch.float64))


def a_tie(model: Net) -> None:
    model.first.bias = model.norm.weight


def a_layer(model: Net) -> None:
    model.first = nn.Linear(4, 5, bias=False).double()


def an_activation(model: Net) -> None:
    model.act = nn.Tanh()  # pyright: ignore[reportAttributeAccessIssue]


def a_slope(model: Net) -> None:
    model.act.negative_slope = 0.9


def an_epsilon(model: Net) -> None:
    model.norm.eps = 0.5


def an_attribute(model: Net) -> None:
    model.scale = 3.0


def a_setting(model: Net) -> None:
    model.settings["power"] = 2


def a_function(model: Net) -> None:
    model.function = torch.sigmoid


def a_plain_tensor(model: Net) -> None:
    model.table = torch.zeros(5, dtype=torch.float64)


def a_plain_tensor_in_place(model: Net) -> None:
    model.table.mul_(3)


def a_method(model: Net) -> None:
    model.forward = lambda x: model.last(model.first(x))


def a_hook(model: Net) -> None:
    model.act.register_forward_hook(lambda module, inputs, output: output.mul(2))


def a_pruning(model: Net) -> None:
    prune.random_unstructured(model.first, "weight", 0.5)


def a_parametrization(model: Net) -> None:
    parametrizations.weight_norm(model.first)
    model.first.parametrizations.weight.original0.data.mul_(2)  # pyright: ignore


CHANGES: list[Callable[[Net], None]] = [
    a_value,
    a_state,
    an_assigned_state,
    a_statistic,
    a_parameter,
    a_tie,
    a_layer,
    an_activation,
    a_slope,
    an_epsilon,
    an_attribute,
    a_setting,
    a_function,
    a_plain_tensor,
    a_plain_tensor_in_place,
    a_method,
    a_hook,
    a_pruning,
    a_parametrization,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_is_noticed(change: Callable[[Net], None]):
    model, x = Net(), torch.randn(6, 4, dtype=torch.float64)
    before = model(x)
    read(model, x)
    change(model)
    graph = read(model, x)
    assert not torch.allclose(model(x), before), "the change must change something"
    torch.testing.assert_close(graph.run(x)[graph.output], model(x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "change", [a_value, a_state, a_plain_tensor_in_place], ids=lambda change: change.__name__
)
def test_new_numbers_in_the_same_tensors_need_no_new_graph(change: Callable[[Net], None]):
    model, x = Net(), torch.randn(6, 4, dtype=torch.float64)
    graph = read(model, x)
    change(model)
    assert read(model, x) is graph


def test_what_no_fingerprint_sees_is_found_by_comparing():
    model, x = Reaching(), torch.randn(6, 4)
    graph = read(model, x)
    SURROUNDINGS["factor"] = 2.0
    again = read(model, x)
    SURROUNDINGS["factor"] = 1.0
    assert again is not graph
    torch.testing.assert_close(again.run(x)[again.output], 2 * x)


def test_a_module_that_begins_to_mix_examples_is_refused_from_then_on():
    model, x = Net(), torch.randn(6, 4, dtype=torch.float64)
    read(model, x)
    hook = model.first.register_forward_hook(lambda module, inputs, output: output - output.mean(0))
    with pytest.raises(PenstockError, match=r"the layer first.*mixes examples"):
        read(model, x)
    hook.remove()
    assert read(model, x).steps


def test_another_dtype_is_another_graph():
    model, x = Net(), torch.randn(6, 4, dtype=torch.float64)
    model.table = None  # pyright: ignore[reportAttributeAccessIssue]
    model.forward = lambda x: model.last(model.act(model.norm(model.first(x))))
    read(model, x)
    model.float()
    graph = read(model, x.float())
    assert graph.dtype == torch.float32
    torch.testing.assert_close(graph.run(x.float())[graph.output], model(x.float()))


def test_kinds_of_input_are_kept_side_by_side():
    model = nn.Conv1d(2, 3, 3)
    short, long = torch.randn(3, 2, 5), torch.randn(3, 2, 9)
    graphs = read(model, short), read(model, long)
    assert (read(model, short), read(model, long)) == graphs
    assert graphs[0].input_shape == (2, 5)
    assert graphs[1].input_shape == (2, 9)
