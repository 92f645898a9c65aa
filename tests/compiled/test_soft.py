"""Derivatives of soft gates in one pass, against the same written in NumPy: every size around strips."""

import numpy as np
import pytest

pytest.importorskip("numba")

from penstock.compiled import soft
from penstock.compiled.soft import through_gate, through_product, through_relu

STEEP, TOP = 3.0, 1.2


def numbers(count: int, dtype: type, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(count).astype(dtype)


def gates(count: int, dtype: type) -> np.ndarray:
    return (TOP / (1 + np.exp(-STEEP * numbers(count, np.float64, 9)))).astype(dtype)


def close(found: np.ndarray, wanted: np.ndarray) -> bool:
    assert found.dtype == wanted.dtype
    return np.allclose(
        found, wanted, rtol=20 * np.finfo(found.dtype).eps, atol=1e-6 if found.itemsize == 4 else 1e-14
    )


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 6, 7, 8, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
class TestAroundStrips:
    @pytest.fixture(autouse=True)
    def short_strips(self, monkeypatch):
        monkeypatch.setattr(soft, "_STRIP", 7)

    def test_a_product(self, count: int, dtype: type, threads: int):
        gradient, signal, gate = numbers(count, dtype, 1), numbers(count, dtype, 2), gates(count, dtype)
        by_signal, by_q = (np.full(count, np.nan, dtype) for _ in range(2))
        through_product(gradient, signal, gate, STEEP, TOP, by_signal, by_q, threads)
        assert close(by_signal, gradient * gate)
        slope = dtype(STEEP) * gate * (1 - gate / dtype(TOP))
        assert close(by_q, gradient * signal * slope)

    def test_a_gate(self, count: int, dtype: type, threads: int):
        gradient, gate = numbers(count, dtype, 1), gates(count, dtype)
        by_q = np.full(count, np.nan, dtype)
        through_gate(gradient, gate, STEEP, TOP, by_q, threads)
        assert close(by_q, gradient * dtype(STEEP) * gate * (1 - gate / dtype(TOP)))

    def test_a_relu_beside_a_gate(self, count: int, dtype: type, threads: int):
        gradient, beside = numbers(count, dtype, 1), numbers(count, dtype, 2)
        output = np.maximum(numbers(count, dtype, 3), 0)
        by_q = np.full(count, np.nan, dtype)
        through_relu(gradient, output, beside, by_q, threads)
        assert (by_q == np.where(output > 0, gradient + beside, beside)).all()


def test_a_gate_that_is_shut_or_wide_open_has_no_slope():
    gate = np.array([0.0, TOP])
    by_q = np.empty(2)
    through_gate(np.ones(2), gate, STEEP, TOP, by_q, 1)
    assert np.allclose(by_q, 0, atol=1e-15)
