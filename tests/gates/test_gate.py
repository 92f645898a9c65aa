import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from penstock import Hard, PenstockError, Soft
from penstock.gates.gate import Normal, NormalTanh

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
SMOOTH = [Soft(), Soft(beta=0.3, epsilon=0.0), Soft(beta=50.0, epsilon=2.0), Normal(), NormalTanh()]


def test_a_hard_gate_is_open_where_q_is_strictly_above_zero():
    q = torch.tensor([-1.0, -0.0, 0.0, torch.finfo(torch.float32).tiny, 3.0])
    assert Hard().value(q).tolist() == [0, 0, 0, 1, 1]
    assert Hard().slope(q).tolist() == [0, 0, 0, 0, 0]


@given(beta=st.floats(0.01, 100), epsilon=st.floats(0, 10), q=st.floats(-100, 100))
def test_a_soft_gate_is_the_papers_formula(beta: float, epsilon: float, q: float):
    value = float(Soft(beta, epsilon).value(torch.tensor(q, dtype=torch.float64)))
    # σ written with the exponential that does not overflow
    small = math.exp(-abs(beta * q))
    sigmoid = 1 / (1 + small) if q >= 0 else small / (1 + small)
    assert value == pytest.approx((1 + epsilon) * sigmoid, rel=1e-12)


@pytest.mark.parametrize("gate", SMOOTH, ids=str)
def test_the_slope_is_the_derivative_of_the_value(gate):
    q = torch.linspace(-8, 8, 401, dtype=torch.float64, requires_grad=True)
    (derivative,) = torch.autograd.grad(gate.value(q).sum(), q)
    torch.testing.assert_close(gate.slope(q), derivative, rtol=1e-9, atol=1e-12)


def test_a_soft_gates_slope_is_exact_far_into_both_tails():
    q = torch.tensor([-150.0, 150.0], dtype=torch.float64)
    slope = Soft(beta=2.0, epsilon=0.0).slope(q)
    assert slope.tolist() == pytest.approx([2 * math.exp(-300)] * 2, rel=1e-12)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("gate", [Hard(), Soft(beta=1e30), *SMOOTH], ids=str)
def test_no_pre_activation_is_too_extreme(gate, dtype):
    most, least = torch.finfo(dtype).max, torch.finfo(dtype).tiny
    q = torch.tensor([-torch.inf, -most, -least, 0.0, least, most, torch.inf], dtype=dtype)
    value, slope = gate.value(q), gate.slope(q)
    assert value.dtype == slope.dtype == dtype
    assert value.isfinite().all()
    assert value[0] == value[1] == 0
    assert value[-1] == value[-2] > 0
    assert not slope.isnan().any()
    assert slope[[0, 1, -2, -1]].tolist() == [0, 0, 0, 0]


def test_a_soft_gate_tends_to_the_hard_one():
    q = torch.tensor([-2.0, -1e-3, 1e-3, 2.0])
    torch.testing.assert_close(Soft(beta=1e6, epsilon=0.0).value(q), Hard().value(q))


def test_silu_is_a_soft_gate_and_gelu_a_normal_one():
    q = torch.linspace(-6, 6, 101, dtype=torch.float64)
    torch.testing.assert_close(q * Soft(beta=1, epsilon=0).value(q), torch.nn.functional.silu(q))
    torch.testing.assert_close(q * Normal().value(q), torch.nn.functional.gelu(q))
    torch.testing.assert_close(q * NormalTanh().value(q), torch.nn.functional.gelu(q, approximate="tanh"))


@pytest.mark.parametrize("beta", [0.0, -1.0, math.inf, math.nan, 1e31])
def test_beta_that_makes_no_gate_is_refused(beta):
    with pytest.raises(PenstockError, match="beta must be a number above 0"):
        Soft(beta=beta)


@pytest.mark.parametrize("epsilon", [-0.1, math.inf, math.nan])
def test_epsilon_that_makes_no_gate_is_refused(epsilon):
    with pytest.raises(PenstockError, match="epsilon must be a finite number and at least 0"):
        Soft(epsilon=epsilon)


def test_gates_are_values():
    assert Soft(4.0, 0.1) == Soft() != Soft(beta=5.0)
    assert len({Hard(), Hard(), Soft(), Soft()}) == 2
    with pytest.raises(AttributeError):
        Soft().beta = 1.0  # pyright: ignore[reportAttributeAccessIssue]
