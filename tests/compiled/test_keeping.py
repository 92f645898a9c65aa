"""What is compiled runs wherever Numba does, also where its cache cannot be written; and everything runs
without Numba.
"""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

pytest.importorskip("numba")

from numba.core import caching, config

from penstock import compiled
from penstock.compiled.keeping import cached


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))


def double(x, out):
    out[0] = 2 * x


def run(function) -> float:
    out = np.empty(1)
    function(21.0, out)
    return float(out[0])


def test_the_function_is_compiled_and_kept(tmp_path):
    assert run(cached(double)) == 42
    assert list(tmp_path.rglob("*.nbi"))


def test_no_folder_for_the_cache_is_no_reason_not_to_run(monkeypatch):
    monkeypatch.setattr(caching.FunctionCache._impl_class, "_locator_classes", [])
    assert run(cached(double)) == 42


def test_a_full_disk_is_no_reason_not_to_run(monkeypatch):
    asked = []

    def full(*_):
        asked.append(True)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "save", full)
    assert run(cached(double)) == 42
    assert asked


def test_numba_told_not_to_compile_counts_as_missing(monkeypatch):
    assert compiled.available()
    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    assert not compiled.available()


def test_gates_are_counted_without_numba():
    script = """
        import sys
        sys.modules["numba"] = None
        import torch
        from penstock import GateRecord, compiled
        from penstock.gates.kinds import Rectifier
        q = torch.tensor([[1.0, -1.0, 2.0], [3.0, 4.0, -5.0]])
        record = GateRecord.from_patterns([("relu", Rectifier(), q > 0)])
        assert not compiled.available()
        assert record.overlap()["relu"].tolist() == [[2, 1], [1, 2]]
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True)
