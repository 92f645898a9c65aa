"""When two results count as the same, and that they are computed in full precision."""

import pytest
import torch

from networks.fully_connected import fully_connected
from penstock.walk.agreement import agrees, close
from penstock.walk.precision import full_precision
from penstock.walk.reading import read

TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-4}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_results_are_close_by_the_tolerance_of_their_dtype_times_the_largest(dtype: torch.dtype, size: float):
    one = torch.tensor([[3.0, -7.0], [0.0, 1.0]], dtype=dtype) * size
    off = torch.zeros_like(one)
    off[1, 0] = 7 * size * TOLERANCE[dtype]
    assert close(one, one)
    assert close(one, one + 0.5 * off)
    assert not close(one, one + 2 * off)


def test_results_of_another_shape_or_dtype_or_without_numbers_are_not_close():
    one = torch.ones(2, 3)
    assert not close(one, one[:1])
    assert not close(one, one.double())
    assert not close(one, torch.full_like(one, float("nan")))
    assert not close(torch.zeros(2), torch.full((2,), 1e-30))
    assert close(torch.zeros(2), torch.zeros(2))
    assert close(torch.tensor([True]), torch.tensor([True]))
    assert not close(torch.tensor([True]), torch.tensor([False]))


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
    model.forward = lambda x: {}["gone"]
    assert not agrees(graph, model, rows)


def test_inside_full_precision_products_of_float32_are_of_float32():
    asked = torch.backends.mkldnn.matmul.fp32_precision  # pyright: ignore[reportAttributeAccessIssue]
    torch.set_float32_matmul_precision("medium")
    try:
        with torch.autocast("cpu", dtype=torch.bfloat16), full_precision(torch.device("cpu")):
            assert torch.backends.mkldnn.matmul.fp32_precision == "ieee"  # pyright: ignore
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision("highest")
    assert torch.backends.mkldnn.matmul.fp32_precision in (asked, "ieee")  # pyright: ignore
