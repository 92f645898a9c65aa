"""A graph gives what its module gives, in value and derivative, for any number of rows; or it is refused."""

import copy
import gc
import pickle
import subprocess
import sys
import warnings
import weakref

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from networks.exported import READABLE, kept
from networks.fully_connected import fully_connected
from networks.refused import UNREADABLE
from penstock.errors import PenstockError
from penstock.model import adapt
from penstock.walk.graph import Graph
from penstock.walk.reading import read


def inputs(shape: tuple[int, ...], n: int = 4, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(n, *shape, dtype=dtype, generator=torch.Generator().manual_seed(n))


def given(graph: Graph, x: Tensor) -> Tensor:
    return graph.run(x, keep=[graph.output])[graph.output]


@pytest.mark.parametrize("name", READABLE)
def test_a_model_is_left_as_it_was_found(name: str):
    model, shape = kept(name)
    x = inputs(shape)
    state, random_state = copy.deepcopy(model.state_dict()), torch.get_rng_state()
    attributes = {path: dict(vars(module)) for path, module in model.named_modules()}
    read(model, x)
    read(model, x)
    torch.testing.assert_close(model.state_dict(), state, rtol=0, atol=0)
    assert torch.equal(torch.get_rng_state(), random_state)
    assert {path: dict(vars(module)) for path, module in model.named_modules()} == attributes
    assert torch.equal(x, inputs(shape))
    assert all(parameter.grad is None for parameter in model.parameters())


@pytest.mark.parametrize("name", READABLE)
def test_a_graph_gives_what_its_module_gives_for_any_number_of_examples(name: str):
    model, shape = kept(name)
    graph = read(model, inputs(shape))
    for n in (1, 2, 5):
        x = inputs(shape, n)
        torch.testing.assert_close(given(graph, x), model(x.clone()), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", READABLE)
def test_autograd_goes_the_same_way_back_through_a_graph(name: str):
    model, shape = kept(name)
    x = inputs(shape).requires_grad_()
    graph = read(model, x)
    parameters = [p for p in model.parameters() if p.requires_grad]
    y, z = model(x.clone()), given(graph, x)
    if not y.requires_grad:
        assert not z.requires_grad
        return
    cotangent = torch.randn_like(y)
    expected = torch.autograd.grad(y, [x, *parameters], cotangent, allow_unused=True)
    found = torch.autograd.grad(z, [x, *parameters], cotangent, allow_unused=True)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_no_graph_can_stand_for_is_refused_in_one_sentence(name: str, capfd: pytest.CaptureFixture[str]):
    make, shape, says = UNREADABLE[name]
    torch.manual_seed(0)
    model = make().double().eval()
    with pytest.raises(PenstockError, match=says) as refused:
        read(model, inputs(shape))
    assert "\n" not in str(refused.value)
    assert not str(refused.value).endswith(".")
    said = capfd.readouterr().err
    assert all("reading" in line for line in said.splitlines()), "torch's own words reach nobody"


def test_what_torch_said_stays_as_the_cause():
    make, shape, _ = UNREADABLE["an if"]
    with pytest.raises(PenstockError) as refused:
        read(make().double(), inputs(shape))
    assert "data-dependent" in str(refused.value.__cause__)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_a_graph_is_read_in_every_floating_dtype(dtype: torch.dtype):
    model = READABLE["batch norm"][0]().eval().to(dtype)
    x = inputs((2, 5, 5), dtype=dtype)
    graph = read(model, x)
    assert graph.dtype == dtype
    assert {step.dtype for step in graph.steps} == {dtype}
    torch.testing.assert_close(given(graph, x), model(x))


def test_one_row_is_enough_and_so_are_equal_rows():
    model = fully_connected(2, 3, 1)
    for x in (inputs((2,), 1), torch.zeros(1, 2).double(), torch.ones(4, 2).double()):
        assert read(model, x).input_shape == (2,)


def test_equal_rows_do_not_hide_that_rows_mix():
    make, shape, says = UNREADABLE["a mean over the batch"]
    for x in (torch.ones(4, *shape), torch.zeros(1, *shape)):
        with pytest.raises(PenstockError, match=says):
            read(make().double(), x.double())


def test_a_module_of_logarithms_is_not_run_outside_of_its_domain():
    class Log(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.log(x) + torch.sqrt(1 - x)

    assert read(Log(), torch.full((1, 3), 0.5)).steps


def test_inputs_are_read_as_everywhere():
    model, x = fully_connected(2, 3, 1), inputs((2,))
    graph = read(model, x)
    assert read(model, x.numpy()) is graph
    assert read(model, DataLoader(TensorDataset(x), batch_size=2)) is graph
    with pytest.raises(PenstockError, match=r"float32.*float64"):
        read(model, x.float())
    with pytest.raises(PenstockError, match="NaN"):
        read(model, np.full((2, 2), np.nan))
    with pytest.raises(PenstockError, match="empty"):
        read(model, x[:0])
    with pytest.raises(PenstockError, match="int64"):
        read(model, torch.arange(4)[:, None])
    with pytest.raises(PenstockError, match="training mode"):
        read(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).double(), x)


def test_an_adapted_module_is_read_and_keeps_its_own_names():
    class Pair(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Linear(4, 3)

        def forward(self, x: Tensor, scale: float) -> dict[str, Tensor]:
            return {"logits": scale * self.body(x).relu()}

    graph = read(adapt(Pair(), lambda model, x: model(x, 2.0)["logits"]), inputs((4,), dtype=torch.float32))
    assert set(graph.parameters.values()) == {"body.weight", "body.bias"}
    assert graph.steps[0].place.module == "body"


@pytest.mark.parametrize("surroundings", [torch.no_grad, torch.inference_mode, lambda: torch.autocast("cpu")])
def test_the_surroundings_do_not_change_what_is_read(surroundings):
    model = fully_connected(2, 3, 1, dtype=torch.float32)
    with surroundings():
        x = inputs((2,), dtype=torch.float32) + 0
        graph = read(model, x)
        assert read(model, x) is graph
    assert [step.operation for step in graph.steps] == ["linear", "relu", "linear"]
    assert {step.dtype for step in graph.steps} == {torch.float32}


def test_a_compiled_module_is_read_as_what_was_compiled():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's compiler, when it is loaded
        model = torch.compile(fully_connected(2, 3, 1))
    assert isinstance(model, nn.Module)
    graph = read(model, inputs((2,)))
    assert [step.operation for step in graph.steps] == ["linear", "relu", "linear"]


def test_a_graph_is_kept_for_as_long_as_its_module_lives():
    model = fully_connected(2, 3, 1)
    graph = read(model, inputs((2,)))
    assert read(model, inputs((2,), 7)) is graph
    gone = weakref.ref(graph), weakref.ref(model), weakref.ref(model[0].weight)
    del graph, model
    gc.collect()
    assert [ref() for ref in gone] == [None, None, None]


def test_copies_and_pickles_of_a_module_carry_no_graph():
    model = fully_connected(2, 3, 1)
    before = len(pickle.dumps(model))
    graph = read(model, inputs((2,)))
    assert len(pickle.dumps(model)) == before
    assert read(copy.deepcopy(model), inputs((2,))) is not graph


def test_reading_again_costs_two_milliseconds_at_most_on_a_small_net():
    # in a process of its own: here every call is checked for shapes and types, which the reader's are not
    code = """
import time, torch
from torch import nn
from penstock.walk.reading import read

model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
x = torch.randn(100, 16)
read(model, x)

def seconds():
    start = time.thread_time()
    read(model, x)
    return time.thread_time() - start

print(min(seconds() for _ in range(100)))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 2e-3


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("name", READABLE)
def test_a_graph_is_read_on_the_models_device(name: str):
    make, shape = READABLE[name]
    torch.manual_seed(0)
    model, x = make().double().eval().cuda(), inputs(shape).cuda()
    torch.testing.assert_close(given(read(model, x), x), model(x.clone()))
