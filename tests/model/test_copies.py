"""A copy in float64, whatever the model keeps."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

from networks.hidden import ScriptedFunction
from penstock import PenstockError
from penstock.model.copies import float64_copy


def doubled(q: torch.Tensor) -> torch.Tensor:
    return 2 * q


def test_a_copy_is_in_float64_and_shares_nothing():
    model: Any = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).bfloat16()
    copied: Any = float64_copy(model)
    assert {tensor.dtype for tensor in copied.state_dict().values()} == {torch.float64, torch.int64}
    assert torch.equal(copied[0].weight.bfloat16(), model[0].weight)
    nn.init.zeros_(copied[0].weight)
    assert model[0].weight.any()
    assert model[0].weight.dtype == torch.bfloat16


def test_tensors_that_are_not_registered_become_float64_too():
    model: Any = nn.Linear(3, 2)
    model.scale = torch.ones(2)
    model.tables = [torch.ones(2), "name"]
    model.by_name = {"a": torch.ones(2, dtype=torch.int64), "b": torch.ones(2)}
    copied: Any = float64_copy(model)
    assert copied.scale.dtype == copied.tables[0].dtype == copied.by_name["b"].dtype == torch.float64
    assert copied.by_name["a"].dtype == torch.int64
    assert model.scale.dtype == model.tables[0].dtype == torch.float32


@pytest.mark.filterwarnings("ignore:.*weight_norm.*:FutureWarning")
@pytest.mark.parametrize("norm", [parametrizations.weight_norm, torch.nn.utils.weight_norm])
def test_weights_that_are_computed_are_computed_in_float64(norm):
    model = norm(nn.Linear(3, 2))
    x = torch.randn(4, 3)
    model(x)  # leaves a computed weight behind, which deepcopy alone refuses
    copied = float64_copy(model)
    torch.testing.assert_close(copied(x.double()), model(x).double(), rtol=1e-6, atol=1e-6)
    assert copied(x.double()).dtype == torch.float64


def test_a_stored_activation_is_no_obstacle():
    model: Any = nn.Linear(3, 2)
    model.last = model(torch.randn(4, 3))
    assert float64_copy(model).last.dtype == torch.float64


def test_a_compiled_model_is_copied_as_it_was_written():
    compiled: Any = torch.compile(nn.Linear(3, 2), backend="eager")
    assert type(float64_copy(compiled)) is nn.Linear


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
def test_a_scripted_function_is_shared():
    model = ScriptedFunction(doubled)
    assert float64_copy(model).function is model.function


def test_what_cannot_be_copied_is_told():
    model: Any = nn.Linear(3, 2)
    model.stream = (row for row in range(3))
    with pytest.raises(
        PenstockError,
        match=r"the model \(Linear\) cannot be copied .*generator.*; make copy.deepcopy",
    ):
        float64_copy(model)
