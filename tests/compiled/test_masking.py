"""A signal through packed gates, one pass: every size around words."""

import numpy as np
import pytest

pytest.importorskip("numba")

from penstock.compiled.masking import mask_packed


def case(rows: int, gates: int, dtype: type) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(rows * gates)
    bits = random.random((rows, gates)) < 0.5
    padded = np.zeros((rows, -(-gates // 64) * 64), bool)
    padded[:, :gates] = bits
    words = np.packbits(padded, axis=1, bitorder="little").view(np.int64)
    return random.standard_normal((rows, gates)).astype(dtype), bits, words


@pytest.mark.parametrize("gates", [1, 63, 64, 65, 127, 128, 130])
@pytest.mark.parametrize("rows", [1, 2, 7])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_number_passes_or_leaks(rows: int, gates: int, dtype: type):
    q, bits, words = case(rows, gates, dtype)
    for shut in (0.0, 0.1, -1.0):
        out = np.full_like(q, np.nan)
        mask_packed(q, words, shut, out)
        assert (out == np.where(bits, q, dtype(shut) * q)).all()
        assert out.dtype == dtype


def test_a_large_layer_has_no_gap():
    q, bits, words = case(300, 64 * 61 + 5, np.float32)
    out = np.full_like(q, np.nan)
    mask_packed(q, words, 0.0, out)
    assert (out == np.where(bits, q, 0)).all()


def test_without_gates_there_is_nothing_to_write():
    out = np.empty((3, 0))
    mask_packed(np.empty((3, 0)), np.empty((3, 0), np.int64), 0.0, out)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_shut_gate_lets_nothing_through_and_a_leaking_one_what_the_product_is(value: float):
    _, bits, words = case(3, 70, np.float64)
    q, out = np.full((3, 70), value), np.empty((3, 70))
    mask_packed(q, words, 0.0, out)
    assert (out[~bits] == 0).all()
    mask_packed(q, words, 0.5, out)
    assert np.array_equal(out[~bits], 0.5 * q[~bits], equal_nan=True)
