"""Deviations are counted in roundings, whatever the dtype."""

import pytest
import torch

from penstock.lab.claims.deviation import ALLOWED, Deviations, roundings, size_of_sum


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_one_rounding_is_epsilon_times_the_largest_number(dtype: torch.dtype):
    expected = torch.tensor([4.0, 1.0], dtype=dtype)
    found = expected + torch.tensor([0.0, 4 * torch.finfo(dtype).eps], dtype=dtype)
    assert roundings(found, expected) == pytest.approx(1)
    assert roundings(expected, expected) == 0


def test_the_coarser_dtype_counts():
    third = torch.tensor([1 / 3], dtype=torch.float64)
    assert roundings(third.float(), third) < 1


def test_what_is_wrong_by_a_formula_is_far_from_what_is_allowed():
    expected = torch.ones(1)
    assert roundings(1.1 * expected, expected) > 1000 * ALLOWED


def test_the_terms_of_a_sum_say_its_size():
    terms = torch.tensor([[1e8, -1e8, 1.0]], dtype=torch.float64)
    assert size_of_sum(terms, torch.ones(3, dtype=torch.float64)) == 2e8 + 1


def test_deviations_become_evidence_by_dtype():
    deviations = Deviations()
    for dtype in (torch.float64, torch.float32):
        for kind in ("skips", "biases"):
            one = torch.ones(2, dtype=dtype)
            deviations.add(kind, one, one)
            deviations.add(kind, one * (1 + torch.finfo(dtype).eps), one)
    evidence = deviations.evidence()
    assert evidence["kinds"] == "skips; biases"
    assert evidence["networks"] == 8
    assert evidence["off_by_float32"].tolist() == [[0, 1], [0, 1]]
    assert evidence["largest_deviation"] == deviations.largest("skips") == 1
