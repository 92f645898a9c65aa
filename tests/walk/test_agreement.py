"""When two results count as the same, and that they are computed in full precision."""

from typing import Any

import pytest
import torch
from torch import nn

from networks.exported import Inline
from networks.fully_connected import fully_connected
from penstock.walk.agreement import agrees, close, tolerance
from penstock.walk.precision import full_precision
from penstock.walk.reading import read


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("most", [1e-4, 1e-10])
def test_results_are_close_by_the_tolerance_times_the_largest(most: float, size: float):
    one = torch.tensor([[3.0, -7.0], [0.0, 1.0]], dtype=torch.float64) * size
    off = torch.zeros_like(one)
    off[1, 0] = 7 * size * most
    assert close(one, one, most)
    assert close(one, one + 0.5 * off, most)
    assert not close(one, one + 2 * off, most)


def test_results_of_another_shape_or_dtype_or_without_numbers_are_not_close():
    one = torch.ones(2, 3)
    assert not close(one, one[:1], 1.0)
    assert not close(one, one.double(), 1.0)
    assert not close(one, torch.full_like(one, float("nan")), 1.0)
    assert not close(torch.zeros(2), torch.full((2,), 1e-30), 1.0)
    assert close(torch.zeros(2), torch.zeros(2), 0.0)
    assert close(torch.tensor([True]), torch.tensor([True]), 0.0)
    assert not close(torch.tensor([True]), torch.tensor([False]), 1.0)


@pytest.mark.parametrize(("dtype", "expected"), [(torch.float64, 1e-10), (torch.float32, 1e-4)])
def test_a_graph_is_held_to_the_coarsest_dtype_that_it_computes_in(dtype: torch.dtype, expected: float):
    pure = read(nn.Linear(2, 2, dtype=dtype), torch.randn(3, 2, dtype=dtype))
    assert tolerance(pure) == expected
    mixed = read(Inline(lambda m, x: m.lin(x.to(torch.bfloat16).float()).double()), torch.randn(3, 4))
    assert tolerance(mixed) == 5e-2


def test_a_graph_agrees_with_its_own_module_and_not_with_another():
    rows = torch.randn(3, 2, dtype=torch.float64)
    model, other = fully_connected(2, 3, 1, seed=0), fully_connected(2, 3, 1, seed=1)
    graph = read(model, rows)
    assert agrees(graph, model, rows)
    assert not agrees(graph, other, rows)


def test_a_module_that_fails_does_not_agree():
    rows = torch.randn(3, 2, dtype=torch.float64)
    model = fully_connected(2, 3, 1)
    graph = read(model, rows)
    model.forward = lambda input: {}["gone"]
    assert not agrees(graph, model, rows)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("precision", ["highest", "high", "medium"])
def test_inside_full_precision_products_of_float32_are_of_float32(precision: str, device: str):
    cudnn: Any = torch.backends.cudnn
    torch.set_float32_matmul_precision(precision)
    try:
        # autocast for a device that is not there warns
        where = torch.device(device if torch.cuda.is_available() else "cpu")
        with torch.autocast(where.type, dtype=torch.bfloat16), full_precision(where):
            assert torch.get_float32_matmul_precision() == "highest"
            assert not cudnn.allow_tf32
            ones = torch.ones(2, 2, device=where)
            assert (ones @ ones).dtype == torch.float32
        assert torch.get_float32_matmul_precision() == precision
        assert cudnn.allow_tf32
    finally:
        torch.set_float32_matmul_precision("highest")


def test_settings_of_the_newer_kind_are_no_hindrance_and_stay():
    cudnn: Any = torch.backends.cudnn
    before = cudnn.conv.fp32_precision
    cudnn.conv.fp32_precision = "ieee"
    try:
        with pytest.raises(RuntimeError, match="mix of the legacy and new APIs"):
            cudnn.allow_tf32  # noqa: B018
        with full_precision(torch.device("cpu")):
            assert not cudnn.allow_tf32
        assert cudnn.conv.fp32_precision == "ieee"
        assert read(fully_connected(2, 3, 1), torch.randn(3, 2, dtype=torch.float64)).steps
    finally:
        cudnn.conv.fp32_precision = before
        cudnn.allow_tf32 = True
