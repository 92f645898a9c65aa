"""What can be given wrongly is told by every question in the same way: in one sentence of ours."""

from collections.abc import Callable
from typing import Any

import jaxtyping
import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import penstock
from networks.exported import Inline
from penstock import PenstockError


def small(*layers: nn.Module) -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 3), *layers, nn.ReLU(), nn.Linear(3, 1))


def x(n: int = 5) -> torch.Tensor:
    return torch.randn(n, 4, generator=torch.Generator().manual_seed(0))


def verify(model: Any, given: Any) -> None:
    penstock.capture(small(), x()).verify(model, given)


OF_INPUTS: dict[str, Callable[[Any, Any], object]] = {
    "capture": penstock.capture,
    "verify": verify,
    "npf": penstock.npf,
    "Switches": penstock.Switches,
    "Monitor": penstock.Monitor,
}
OF_A_MODEL: dict[str, Callable[[Any], object]] = {
    "list_paths": penstock.list_paths,
    "count_paths": penstock.count_paths,
    "npv": penstock.npv,
    "vtk": penstock.vtk,
}
EVERY = {**OF_INPUTS, **{name: lambda model, _, ask=ask: ask(model) for name, ask in OF_A_MODEL.items()}}

SHUFFLED = DataLoader(TensorDataset(x()), batch_size=2, shuffle=True)
BAD_INPUTS = {
    "nothing": (None, "x must be a tensor, a NumPy array or a DataLoader, not NoneType"),
    "a number": (3, "not int"),
    "a list": ([[1.0, 2.0]] * 5, "not list"),
    "a generator": ((row for row in x()), "not generator"),
    "a data set": (TensorDataset(x()), r"put it in a torch.utils.data.DataLoader\(x"),
    "a shuffled loader": (SHUFFLED, "is shuffled"),
    "a single number": (torch.tensor(1.0), r"a single number.*x.reshape\(1, 1\)"),
    "one row": (x()[0], r"one dimension.*x\[None\]"),
    "an empty batch": (x()[:0], r"x is empty \(its shape is \(0, 4\)\)"),
    "NaN": (x().index_fill(0, torch.tensor(3), torch.nan), "NaN in row 3"),
    "infinite": (x().index_fill(0, torch.tensor(2), torch.inf), "an infinite number in row 2"),
    "integers": (torch.ones(5, 4, dtype=torch.int64), r"x is torch.int64.*x.float\(\)"),
    "another dtype": (x().double(), "x is torch.float64 and the model is torch.float32"),
    "complex": (x().to(torch.complex64), "x is torch.complex64.*its real part"),
    "truths": (np.ones((5, 4), dtype=bool), "an array of bool"),
    "words": (np.array([["a", "b"]] * 5), "an array of <U1"),
    "the wrong feature size": (torch.ones(5, 3), r"0 \(Linear\) takes 4 features and is given 3"),
}
COMPLEX = small()
COMPLEX[0].weight = nn.Parameter(torch.ones(3, 4, dtype=torch.complex64))
BAD_MODELS = {
    "a name": ("model", "must be a torch.nn.Module, not str"),
    "its class": (nn.Linear, r"is the class Linear; make one of it first: Linear\(…\)"),
    "a function": (torch.relu, "a function can be put in the forward of one"),
    "a tuple": (Inline(lambda m, x: (m.lin(x), x)), r"returns a tuple of 2.*model\(batch\)\[0\]"),
    "a dictionary": (Inline(lambda m, x: {"y": m.lin(x)}), r"a dictionary \(y\).*\['y'\]"),
    "mixed devices": (small(nn.Linear(3, 3, device="meta")), "more than one device: 0.weight has cpu"),
    "mixed dtypes": (small(nn.Linear(3, 3).double()), "more than one dtype: 0.weight has torch.float32"),
    "complex weights": (COMPLEX, "0.weight is torch.complex64, .* real numbers only"),
}


@pytest.fixture(autouse=True)
def _as_a_user_runs_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


def refused(sentence: str, ask: Callable[..., object], *arguments: Any, **options: Any) -> None:
    with pytest.raises(PenstockError, match=sentence) as caught:
        ask(*arguments, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("question", OF_INPUTS)
@pytest.mark.parametrize("mistake", BAD_INPUTS)
def test_bad_input_is_refused_by_every_question_of_inputs(mistake: str, question: str):
    given, sentence = BAD_INPUTS[mistake]
    if question == "verify" and mistake in ("an empty batch", "one row", "words"):
        sentence = "empty|one dimension|an array of <U1"
    refused(sentence, OF_INPUTS[question], small(), given)


@pytest.mark.parametrize("question", EVERY)
@pytest.mark.parametrize("mistake", BAD_MODELS)
def test_a_bad_model_is_refused_by_every_question(mistake: str, question: str):
    model, sentence = BAD_MODELS[mistake]
    refused(sentence, EVERY[question], model, x())


@pytest.mark.parametrize("question", ["capture", "verify", "npf", *OF_A_MODEL])
def test_normalization_in_training_mode_is_refused(question: str):
    refused(
        r"1 \(BatchNorm1d\) is in training mode.*model.eval\(\)",
        EVERY[question],
        small(nn.BatchNorm1d(3)),
        x(),
    )


@pytest.mark.parametrize("question", ["capture", "Switches", "Monitor"])
def test_a_net_with_no_gates_is_refused(question: str):
    refused(r"\(Linear\) has no gates", EVERY[question], nn.Linear(4, 1), x())


def mixing(m: Any, x: torch.Tensor) -> torch.Tensor:
    return m.lin(x - x.mean(0))


def choosing(m: Any, x: torch.Tensor) -> torch.Tensor:
    return m.lin(x) if x.sum() > 0 else -m.lin(x)


def fixed(m: Any, x: torch.Tensor) -> torch.Tensor:
    return m.lin(x.view(5, 4))


def fixed_behind(m: Any, x: torch.Tensor) -> torch.Tensor:
    return m.lin(x).view(4, -1)


@pytest.mark.parametrize("question", ["npf", *OF_A_MODEL])
@pytest.mark.parametrize(
    ("forward", "sentence"),
    [
        (mixing, r"sub, line \d+ of .* mixes examples: .*never over the first dimension"),
        (choosing, r"line \d+ of .* values of a tensor.*torch.where"),
        (fixed, r"line \d+ of test_bad_input.py .*write x.shape\[0\]"),
        (fixed_behind, r"shape \(4, batch\).*begin every shape with x.shape\[0\]"),
    ],
)
def test_what_no_graph_holds_is_refused_by_every_question_of_paths(
    question: str, forward: Any, sentence: str
):
    refused(sentence, EVERY[question], Inline(forward), x())


def test_switches_tell_of_more_examples_than_a_fixed_view_takes():
    made_for_four = Inline(lambda m, x: torch.relu(m.lin(x.view(4, -1))))
    refused(r"takes 4 features and is given 8", penstock.Switches, made_for_four, x(8))


@pytest.mark.parametrize(
    ("ask", "options", "sentence"),
    [
        (penstock.count_paths, {"output": 1}, "there is no output 1: .* numbered 0 to 0"),
        (penstock.count_paths, {"output": -1}, "there is no output -1"),
        (
            penstock.count_paths,
            {"output": "trace"},
            "there is no output 'trace': .* output= is one of these",
        ),
        (penstock.npv, {"output": 0.0}, "there is no output 0.0"),
        (penstock.count_paths, {"input_shape": 2}, r"such as \(784,\) or \(3, 32, 32\), not 2"),
        (penstock.vtk, {"input_shape": "ab"}, "not 'ab'"),
        (penstock.list_paths, {"input_shape": (3,)}, "takes 4 features and is given 3"),
    ],
)
def test_options_of_paths_are_checked(ask: Any, options: dict[str, Any], sentence: str):
    refused(sentence, ask, small(), **options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"every": 0}, "at least 1, not every 0"),
        ({"every": 1.5}, "a whole number and at least 1, not every 1.5"),
        ({"also": [1]}, "also maps names to functions"),
        ({"also": {"norm": 3}}, r"the measurement 'norm' is a int; give a function of \(model, probe\)"),
        ({"also": {"dead": len}}, "cannot be called 'dead'"),
    ],
)
def test_options_of_a_monitor_are_checked(options: dict[str, Any], sentence: str):
    refused(sentence, penstock.Monitor, small(), x(), **options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"beta": 0}, "beta must be a number above 0"),
        ({"beta": "steep"}, "beta must be a number above 0 .* not 'steep'"),
        ({"epsilon": -1}, "epsilon must be a finite number and at least 0"),
        ({"epsilon": None}, "epsilon must be a finite number and at least 0, not None"),
    ],
)
def test_options_of_a_soft_gate_are_checked(options: dict[str, Any], sentence: str):
    refused(sentence, penstock.Soft, **options)
