"""Weights follow the law that is named."""

import copy

import pytest
import torch
from torch import nn

import penstock
from penstock.errors import PenstockError
from penstock.lab.models.fully_connected import fc_network
from penstock.lab.models.initialization import (
    LAWS,
    Bernoulli,
    BernoulliOfFanIn,
    Gaussian,
    GlorotUniform,
    He,
    Law,
    law_named,
    law_of,
)
from penstock.lab.models.random_sizes import seeded

SHAPE = (200, 300)
KERNELS = (40, 10, 5, 6)
EVERY = [Bernoulli(0.5), Gaussian(0.5), GlorotUniform(), He(), BernoulliOfFanIn()]


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


@pytest.mark.parametrize("shape", [SHAPE, KERNELS])
def test_the_size_of_he_and_of_fan_in_signs_is_root_2_over_fan_in(shape: tuple[int, ...]):
    size = (2 / 300) ** 0.5
    normal = He().draw(shape, seeded(0), torch.float64)
    assert normal.std().item() == pytest.approx(size, rel=0.03)
    assert normal.unique().numel() == normal.numel()
    # the fourth moment of a normal law is three times its variance squared
    assert normal.pow(4).mean().item() == pytest.approx(3 * size**4, rel=0.1)
    signs = BernoulliOfFanIn().draw(shape, seeded(0), torch.float64)
    assert signs.unique().tolist() == [-size, size]
    assert abs(signs.sign().mean()) < 4 / signs.numel() ** 0.5


def test_a_kernel_counts_in_fan_in_and_fan_out():
    end = (6 / (300 + 40 * 30)) ** 0.5
    weights = GlorotUniform().draw(KERNELS, seeded(0), torch.float64)
    assert 0.99 * end < weights.abs().max() <= end


@pytest.mark.parametrize("law", [He(), BernoulliOfFanIn(), GlorotUniform()])
def test_a_bias_has_no_fan_in(law: Law):
    with pytest.raises(PenstockError, match=r"a weight of shape \(3,\) has no fan-in"):
        law.draw((3,), seeded(0), torch.float32)


@pytest.mark.parametrize("law", EVERY)
def test_a_law_fills_a_weight_in_place_with_what_it_draws(law: Law):
    weight = nn.Parameter(torch.zeros(4, 3))
    before = torch.random.get_rng_state()
    assert law(weight, generator=seeded(5)) is weight
    assert torch.equal(weight, law.draw((4, 3), seeded(5), torch.float32))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert weight.is_leaf


def test_without_a_generator_a_law_draws_from_torchs_state_as_torchs_own_do():
    with torch.random.fork_rng():
        torch.manual_seed(3)
        ours = He()(torch.empty(4, 3))
        torch.manual_seed(3)
        theirs = nn.init.kaiming_normal_(torch.empty(4, 3), nonlinearity="relu")
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("law", EVERY)
def test_a_regime_starts_by_a_law(law: Law):
    model = fc_network(seeded(0), inputs=6, width=8, hidden=2, classes=3)
    kept = copy.deepcopy(model.state_dict())
    pair = penstock.regime(model, "frnpf-ii", init=law, generator=seeded(1))
    generator = seeded(1)
    torch.randint(2**63 - 1, (), generator=generator)  # what layers draw themselves is seeded by this
    for name, weight in pair.feature.named_parameters():
        drawn = law.draw(tuple(weight.shape), generator, weight.dtype) if weight.ndim > 1 else 0 * weight
        assert torch.equal(weight, drawn), name
    assert all(torch.equal(tensor, kept[name]) for name, tensor in model.state_dict().items())


def test_a_setting_names_a_law():
    assert law_named("glorot uniform") == GlorotUniform()
    assert law_named("he") == He()
    assert law_named("bernoulli") == BernoulliOfFanIn()
    assert law_named("bernoulli", sigma=0.25) == Bernoulli(0.25)
    assert law_named("gaussian", sigma=0.25) == Gaussian(0.25)
    assert [law_of(name) for name in LAWS] == list(LAWS.values())
    assert law_of(He()) == He()


@pytest.mark.parametrize(
    ("name", "sigma", "says"),
    [
        ("glorot", None, "there is no law called 'glorot'; the nearest is glorot uniform"),
        ("he", 0.5, "the law 'he' takes its size from the layer; leave sigma= out"),
        ("gaussian", None, "the law 'gaussian' needs a size: sigma="),
    ],
)
def test_a_name_that_is_no_law_is_refused(name: str, sigma: float | None, says: str):
    with pytest.raises(PenstockError, match=says):
        law_named(name, sigma=sigma)


@pytest.mark.parametrize("law", EVERY)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_law_draws_from_its_generator_alone(law: Law, dtype: torch.dtype):
    before = torch.random.get_rng_state()
    one = law.draw((3, 4), seeded(1), dtype)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(one, law.draw((3, 4), seeded(1), dtype))
    assert not torch.equal(one, law.draw((3, 4), seeded(2), dtype))
    assert one.dtype == dtype
