"""Intervals from a few runs are those of Student's t, and cover what they should."""

import numpy as np
import pytest
import torch
from scipy import stats

from penstock.lab.claims.paired import mean_of, ratio_of, slope_of


def draws(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_the_mean_has_the_interval_of_a_paired_t_test(confidence: float):
    one, other = draws(2, 5)
    interval = mean_of(one - other, confidence)
    theirs = stats.ttest_rel(one.numpy(), other.numpy()).confidence_interval(confidence)
    assert (interval.low, interval.high) == pytest.approx((theirs.low, theirs.high))


def test_both_one_sided_tests_reject_where_the_interval_of_90_percent_is_within_the_margin():
    margin = 0.5
    for seed in range(50):
        differences = 0.5 * draws(5, seed=seed)
        interval = mean_of(differences, 0.90)
        _, above = np.asarray(stats.ttest_1samp(differences.numpy(), -margin, alternative="greater"))
        _, below = np.asarray(stats.ttest_1samp(differences.numpy(), margin, alternative="less"))
        within = abs(interval.center) + interval.half_width < margin
        assert within == (max(above, below) < 0.05)


def test_the_slope_has_the_interval_of_linear_regression():
    x = torch.arange(12, dtype=torch.float64)
    y = -0.5 * x + draws(12)
    interval = slope_of(x, y)
    slope, _, _, _, error = stats.linregress(x.numpy(), y.numpy())
    assert interval.center == pytest.approx(slope)
    assert interval.half_width == pytest.approx(stats.t.ppf(0.975, 10) * error)


def test_a_share_that_every_pair_has_is_sure():
    wholes = torch.tensor([1.0, 2.0, 3.0, 2.5])
    assert ratio_of(0.85 * wholes, wholes) == pytest.approx((0.85, 0.0), abs=1e-6)


def test_the_interval_of_a_share_covers_it_nearly_as_often_as_it_says():
    covered = 0
    for seed in range(400):
        noise = 0.1 * draws(2, 5, seed=seed)
        wholes = 2.0 + noise[0]
        interval = ratio_of(0.85 * 2.0 + noise[1], wholes)
        covered += interval.low <= 0.85 <= interval.high
    assert 0.92 <= covered / 400 <= 0.98
