"""Means and how sure they are."""

import math

import torch

from penstock.lab.claims.estimates import SURE, Estimate
from penstock.lab.models.random_sizes import seeded


def test_the_standard_error_is_that_of_the_mean_of_the_batches():
    batches = torch.tensor([[1.0, 10.0], [3.0, 10.0], [5.0, 13.0]])
    estimate = Estimate.of(batches)
    assert estimate.mean.tolist() == [3, 11]
    torch.testing.assert_close(estimate.error, torch.tensor([2 / math.sqrt(3), 1.0]))
    torch.testing.assert_close(estimate.half_width, 1.96 * estimate.error)
    torch.testing.assert_close(estimate.off_by(9.0), torch.tensor([6 / (2 / math.sqrt(3)), 2.0]))


def test_intervals_cover_the_mean_in_95_of_100_cases_and_hardly_ever_miss_it_by_four_errors():
    samples = torch.rand(200, 4000, generator=seeded(0), dtype=torch.float64)
    estimate = Estimate.of(samples)
    covered = (estimate.mean - 0.5).abs() <= estimate.half_width
    assert 0.94 < covered.double().mean() < 0.96
    assert (estimate.off_by(0.5) > SURE).sum() <= 2
    assert estimate.off_by(0.7).min() > SURE
