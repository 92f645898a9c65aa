"""Weights follow the law that is named."""

import pytest
import torch

from penstock.lab.models.initialization import Bernoulli, Gaussian, GlorotUniform, Law
from penstock.lab.models.random_sizes import seeded

SHAPE = (200, 300)


def test_bernoulli_weights_are_plus_or_minus_sigma_and_fair():
    weights = Bernoulli(0.3).draw(SHAPE, seeded(0), torch.float64)
    assert weights.unique().tolist() == [-0.3, 0.3]
    assert abs(weights.sign().mean()) < 4 / 60000**0.5


def test_gaussian_weights_have_standard_deviation_sigma():
    weights = Gaussian(0.3).draw(SHAPE, seeded(0), torch.float64)
    assert weights.std().item() == pytest.approx(0.3, rel=0.02)
    assert weights.unique().numel() == weights.numel()


def test_glorot_weights_fill_the_interval_of_fan_in_and_fan_out():
    weights = GlorotUniform().draw(SHAPE, seeded(0), torch.float64)
    end = (6 / 500) ** 0.5
    assert 0.99 * end < weights.max() <= end
    assert weights.var().item() == pytest.approx(end**2 / 3, rel=0.02)


@pytest.mark.parametrize("law", [Bernoulli(0.5), Gaussian(0.5), GlorotUniform()])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_law_draws_from_its_generator_alone(law: Law, dtype: torch.dtype):
    before = torch.random.get_rng_state()
    one = law.draw((3, 4), seeded(1), dtype)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(one, law.draw((3, 4), seeded(1), dtype))
    assert not torch.equal(one, law.draw((3, 4), seeded(2), dtype))
    assert one.dtype == dtype
