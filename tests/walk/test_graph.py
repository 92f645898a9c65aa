"""What a graph holds, and how it runs."""

import gc
import weakref

import pytest
import torch
from torch import Tensor, nn

from networks.exported import READABLE
from networks.fully_connected import Skipping, fully_connected
from networks.residual import ResNet18
from penstock.walk.graph import Graph
from penstock.walk.reading import read


@pytest.fixture(scope="module")
def residual() -> tuple[nn.Module, Graph, Tensor]:
    model = ResNet18(width=4).double().eval()
    x = torch.randn(4, 3, 16, 16, dtype=torch.float64)
    return model, read(model, x), x


def test_steps_are_what_the_input_passes_in_order(residual):
    _, graph, _ = residual
    known = {graph.input}
    for step in graph.steps:
        assert step.signals
        assert known.issuperset(step.signals)
        known.add(step.name)
    assert graph.steps[-1].name == graph.output
    assert [step.operation for step in graph.steps].count("conv2d") == 20


def test_every_parameter_is_held_once_under_its_first_name(residual):
    model, graph, _ = residual
    names = {name for name, _ in model.named_parameters()}
    assert sorted(graph.parameters.values()) == sorted(names)
    held = graph.held()
    for name, path in graph.parameters.items():
        assert torch.equal(held[name], model.get_parameter(path))


def test_a_tied_weight_is_one_entry():
    graph = read(READABLE["tied"][0](), torch.randn(3, 4))
    assert sorted(graph.parameters.values()) == ["0.bias", "0.weight", "2.bias"]
    weights = [step.held[0] for step in graph.steps if step.operation == "linear"]
    assert weights[0] == weights[1]


def test_a_held_value_is_computed_from_the_models_tensors_as_they_are_then():
    model = READABLE["pruned"][0]()
    graph = read(model, torch.randn(3, 4))
    weight = graph.steps[0].held[0]
    before = graph.held()[weight]
    assert (before == 0).sum() == 12
    with torch.no_grad():
        model.get_parameter("0.weight_orig").mul_(2)
    torch.testing.assert_close(graph.held()[weight], 2 * before)


def test_held_values_lead_back_to_the_parameters_where_asked():
    model = READABLE["weight norm"][0]()
    graph = read(model, torch.randn(3, 4))
    weight = graph.steps[0].held[0]
    assert not graph.held()[weight].requires_grad
    gradients = torch.autograd.grad(
        graph.held(differentiable=True)[weight].sum(), list(model.parameters()), allow_unused=True
    )
    assert sum(gradient is not None for gradient in gradients) == 2


def test_what_is_copied_once_an_example_is_held_for_as_many_as_asked():
    graph = read(READABLE["class token"][0](), torch.randn(3, 3, 4))
    token = next(step for step in graph.recipes if step.operation == "expand")
    assert graph.held()[token.name].shape == (1, 1, 4)
    assert graph.held(batch=5)[token.name].shape == (5, 1, 4)


def test_other_values_may_be_put_in_place_of_the_held_ones():
    model, x = fully_connected(2, 3, 1), torch.randn(4, 2, dtype=torch.float64)
    graph = read(model, x)
    doubled = {name: 2 * value for name, value in graph.held().items()}
    # two layers without bias: twice the weights is four times the output
    torch.testing.assert_close(graph.run(x, held=doubled)[graph.output], 4 * model(x))


def test_a_run_gives_every_step_and_a_kept_one_the_same(residual):
    _, graph, x = residual
    every = graph.run(x)
    assert list(every) == [graph.input, *(step.name for step in graph.steps)]
    kept = [graph.steps[3].name, graph.output]
    some = graph.run(x, keep=kept)
    assert list(some) == kept
    for name in kept:
        assert torch.equal(some[name], every[name])
    for step in graph.steps:
        assert every[step.name].shape == (4, *step.shape) == step.shape_at(4)
        assert every[step.name].dtype == step.dtype


def test_what_was_read_for_the_last_time_is_freed():
    graph = read(Skipping(), torch.randn(3, 3))
    alive: list[int] = []
    made: list[weakref.ref[Tensor]] = []

    class Watching(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            if isinstance(result, Tensor) and "aten" in str(func):
                made.append(weakref.ref(result))
            alive.append(sum(ref() is not None for ref in made))
            return result

    deep = read(fully_connected(4, *[4] * 20, 1, dtype=torch.float32), torch.randn(3, 4))
    with torch.no_grad(), Watching():
        deep.run(torch.randn(3, 4), keep=[deep.output])
    gc.collect()
    assert len(made) == len(deep.steps)
    assert max(alive) <= 3
    # a skip is kept until it is added
    assert set(graph.run(torch.randn(3, 3), keep=[graph.output])) == {graph.output}


def test_nothing_is_computed_that_nobody_asked_for():
    model = fully_connected(2, 3, 3, 1)
    graph = read(model, torch.randn(3, 2, dtype=torch.float64))
    calls: list[str] = []

    class Counting(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            calls.append(str(func))
            return func(*args, **(kwargs or {}))

    with Counting():
        graph.run(torch.randn(3, 2, dtype=torch.float64), keep=[graph.steps[1].name])
    assert sum("aten.linear" in call for call in calls) == 1


def test_an_operation_with_several_results_runs_once():
    graph = read(READABLE["max-pooling, undone"][0](), torch.randn(3, 2, 4, 4))
    pools = [step for step in graph.steps if "max_pool" in step.operation]
    assert [step.item for step in pools] == [0, 1]
    assert pools[0].origin == pools[1].origin
    calls: list[str] = []

    class Counting(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            calls.append(str(func))
            return func(*args, **(kwargs or {}))

    with Counting():
        graph.run(torch.randn(3, 2, 4, 4))
    assert sum("max_pool2d" in call for call in calls) == 1


def test_what_the_output_does_not_need_is_no_step():
    class Wasteful(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.unused = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x: Tensor) -> Tensor:
            self.unused(x).relu()
            return self.used(x)

    graph = read(Wasteful(), torch.randn(3, 2))
    assert [step.operation for step in graph.steps] == ["linear"]
    assert set(graph.parameters.values()) == {"used.weight", "used.bias"}


def test_a_graph_without_steps_gives_its_input():
    graph = read(nn.Identity(), torch.randn(3, 2))
    x = torch.randn(3, 2)
    assert graph.output == graph.input
    assert torch.equal(graph.run(x, keep=[graph.output])[graph.output], x)
