"""Evidence comes back from the disk as it went there."""

import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import PenstockError
from penstock.lab.runs.evidence import Damaged, read_evidence, write_evidence

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()


def there_and_back(evidence: dict[str, Any]) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "evidence.json"
        write_evidence(path, evidence)
        return read_evidence(path)


@given(st.dictionaries(st.text(max_size=8), SCALARS, max_size=6))
def test_numbers_and_words_come_back_exactly_and_in_order(evidence: dict[str, Any]):
    found = there_and_back(evidence)
    assert list(found) == list(evidence)
    for name, value in evidence.items():
        assert type(found[name]) is type(value)
        assert found[name] == value or (math.isnan(value) and math.isnan(found[name]))


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(6.0).reshape(2, 3).t(),
        torch.tensor(3, dtype=torch.int64),
        torch.empty(0, 4),
        torch.tensor([True, False]),
        torch.randn(3, dtype=torch.bfloat16),
        torch.randn(2, dtype=torch.complex64),
        torch.tensor([math.nan, math.inf]),
        torch.randn(2, requires_grad=True),
        torch.ones(1).expand(5),
    ],
    ids=lambda tensor: f"{tensor.dtype} {tuple(tensor.shape)}",
)
def test_tensors_come_back_to_the_last_bit(tensor: torch.Tensor):
    found = there_and_back({"before": 1, "tensor": tensor})["tensor"]
    assert found.dtype == tensor.dtype
    assert found.shape == tensor.shape
    assert torch.equal(
        torch.view_as_real(found) if found.is_complex() else found.nan_to_num(),
        torch.view_as_real(tensor) if tensor.is_complex() else tensor.detach().nan_to_num(),
    )


def test_two_names_for_one_piece_of_memory_are_two_tensors():
    whole = torch.arange(4.0)
    found = there_and_back({"whole": whole, "half": whole[:2]})
    assert found["whole"].equal(whole)
    assert found["half"].equal(whole[:2])


def test_what_numpy_gives_is_taken():
    found = there_and_back(
        {"count": np.int64(3), "gap": np.float32(0.5), "open": np.bool_(True), "grid": np.eye(2)}
    )
    assert (found["count"], found["gap"], found["open"]) == (3, 0.5, True)
    assert found["grid"].equal(torch.eye(2, dtype=torch.float64))


@pytest.mark.parametrize("value", [{"a": 1}, [1, 2], object(), 1j])
def test_what_is_not_flat_is_refused_by_name(value: object):
    with pytest.raises(PenstockError, match="the evidence 'odd' is a"):
        there_and_back({"odd": value})


def test_a_tensor_that_no_file_can_hold_is_refused_by_name():
    with pytest.raises(PenstockError, match="odd"):
        there_and_back({"odd": torch.randn(2, dtype=torch.complex128)})


def test_evidence_without_its_tensors_is_damaged(tmp_path: Path):
    path = tmp_path / "evidence.json"
    write_evidence(path, {"tensor": torch.ones(2)})
    (tmp_path / "evidence.safetensors").unlink()
    with pytest.raises(Damaged, match=r"evidence\.json cannot be read"):
        read_evidence(path)
