"""What N12 and D5 say of random gates, from probabilities added up by hand."""

from itertools import product
from math import comb, prod

import pytest
import torch

from penstock import capture
from penstock.errors import PenstockError
from penstock.lab.claims import d05_random_gates_share_paths as d05
from penstock.lab.claims import n12_a_normalizing_choice as n12
from penstock.lab.models.fully_connected import relu_network
from penstock.lab.models.initialization import Gaussian
from penstock.lab.models.random_sizes import seeded


def over_all_gates(mu: float, width: int, layers: int):
    """λ(s,s), λ(s,s') and the probability, for every choice of the gates of two inputs."""
    choices = list(product((0, 1), repeat=width * layers))
    for one, other in product(choices, repeat=2):
        opened = sum(one) + sum(other)
        probability = mu**opened * (1 - mu) ** (2 * width * layers - opened)
        rows = [range(layer * width, (layer + 1) * width) for layer in range(layers)]
        own = prod(sum(one[i] for i in row) for row in rows)
        cross = prod(sum(one[i] * other[i] for i in row) for row in rows)
        yield own, cross, probability


@pytest.mark.parametrize("mu", [0.3, 0.5])
@pytest.mark.parametrize(("width", "layers"), [(2, 1), (2, 2), (3, 1), (1, 3)])
def test_lemma_2_4_by_enumeration(mu: float, width: int, layers: int):
    every = list(over_all_gates(mu, width, layers))
    assert sum(p for _, _, p in every) == pytest.approx(1)
    assert sum(own * p for own, _, p in every) == pytest.approx((mu * width) ** layers)
    assert sum(cross * p for _, cross, p in every) == pytest.approx((mu**2 * width) ** layers)
    ratio = sum(own**2 * p for own, _, p in every) / (mu * width) ** (2 * layers)
    assert ratio == pytest.approx((1 + (1 - mu) / (mu * width)) ** layers)
    ratio = sum(cross**2 * p for _, cross, p in every) / (mu**2 * width) ** (2 * layers)
    assert ratio == pytest.approx((1 + (1 - mu**2) / (mu**2 * width)) ** layers)


@pytest.mark.parametrize("width", [2, 3])
def test_where_sums_tie_by_enumeration(width: int):
    """d = 3, weights ±1, input 1: the mean of (2/w)² τ_1 τ_2 over all signs."""
    total = 0
    for first in product((-1, 1), repeat=width):
        hidden = [max(0, weight) for weight in first]
        for row in product((-1, 1), repeat=width):
            opens = sum(w * z for w, z in zip(row, hidden, strict=True)) > 0
            total += sum(z > 0 for z in hidden) * opens * width
    mean = (2 / width) ** 2 * total / 2**width / 2**width
    assert n12._mean_where_sums_tie(width) == pytest.approx(mean)
    assert mean < 1


def test_the_open_gates_of_a_relu_networks_layers_are_binomial_and_independent():
    """Three units a layer, 20,000 networks: every pair of numbers of open gates, as coins would have it."""
    counts = torch.zeros(4, 4)
    for seed in range(100):
        record = n12._record(n12.RELU, 200, 3, n12.Settings(depths=(2, 3)), seeded(seed))
        first, second = (tau.diagonal() for tau in record.overlap().values())
        for k, m in product(range(4), repeat=2):
            counts[k, m] += ((first == k) & (second == m)).sum()
    binomial = torch.tensor([comb(3, k) / 8 for k in range(4)])
    wanted = torch.outer(binomial, binomial)
    wanted[0] = torch.tensor([1 / 8, 0, 0, 0])  # where no gate is open, none above is
    assert (counts / 20_000 - wanted).abs().max() < 4 * (0.15 / 20_000) ** 0.5


def test_the_gates_that_n12_counts_are_those_of_single_networks():
    settings = n12.Settings(depths=(2, 3), inputs=4)
    record = n12._record(n12.RELU, 5, 6, settings, seeded(3))
    generator = seeded(3)
    x = torch.randn(5, 4, generator=generator)
    weights = [torch.randn(5, *shape, generator=generator) for shape in ((6, 4), (6, 6))]
    for s in range(5):
        alone = relu_network((4, 6, 6, 1), Gaussian(1.0), seeded(0), dtype=torch.float32)
        with torch.no_grad():
            for parameter, drawn in zip(alone.parameters(), weights, strict=False):
                parameter.copy_(drawn[s])
        for ours, its in zip(record.values(), capture(alone, x[s : s + 1]).values(), strict=True):
            assert torch.equal(ours.to_dense()[s], its.to_dense()[0])


@pytest.mark.parametrize(
    "settings", [{"mus": (0.0,)}, {"mus": (1.5,)}, {"depths": (1, 2)}, {"widths": (0,)}, {"batches": 2}]
)
def test_settings_of_d5_that_show_nothing_are_refused(settings):
    with pytest.raises(PenstockError, match="show"):
        d05.Settings(**settings)


@pytest.mark.parametrize("settings", [{"depths": (2, 4)}, {"widths": (1,)}, {"spare": 0.5}, {"inputs": 0}])
def test_settings_of_n12_that_show_nothing_are_refused(settings):
    with pytest.raises(PenstockError, match="show"):
        n12.Settings(**settings)
