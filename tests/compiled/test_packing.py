import numpy as np
import pytest

pytest.importorskip("numba")

from oracle import gates as oracle
from penstock.compiled import packing
from penstock.compiled.packing import pack_between


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("gates", [1, 63, 64, 65, 200])
def test_a_gate_is_open_above_zero_and_up_to_the_most(monkeypatch, gates: int, threads: int):
    # strips that end within a row
    monkeypatch.setattr(packing, "_STRIP", 3)
    q = np.random.default_rng(gates).integers(-3, 4, size=(5, gates)).astype(np.int16)
    words = np.full((5, -(-gates // 64)), 12345)
    pack_between(q, 2, words, threads)
    assert words.tolist() == oracle.packed(((q > 0) & (q <= 2)).tolist())


def test_the_pre_activations_stay_as_they_are():
    q = np.random.default_rng(0).normal(size=(3, 130))
    before = q.copy()
    pack_between(q, np.inf, np.empty((3, 3), np.int64), 1)
    assert (q == before).all()
