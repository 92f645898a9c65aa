"""Many networks in one module."""

import pytest
import torch

from penstock import capture
from penstock.errors import PenstockError
from penstock.lab.models.abreast import NetworksAbreast
from penstock.lab.models.fully_connected import relu_network
from penstock.lab.models.initialization import Bernoulli, Gaussian
from penstock.lab.models.random_sizes import seeded


def test_example_s_goes_through_network_s():
    count, widths = 11, (3, 5, 4, 2)
    abreast = NetworksAbreast(count, widths, Gaussian(0.7), seeded(0))
    x = torch.randn(count, 3, generator=seeded(1), dtype=torch.float64)
    record, outputs = capture(abreast, x), abreast(x)
    alone = relu_network(widths, Gaussian(1.0), seeded(0))
    for s in range(count):
        with torch.no_grad():
            for parameter, weights in zip(alone.parameters(), abreast.weights, strict=True):
                parameter.copy_(weights[s])
        torch.testing.assert_close(alone(x[s : s + 1]), outputs[s : s + 1])
        its = capture(alone, x[s : s + 1])
        for ours, wanted in zip(record.values(), its.values(), strict=True):
            assert torch.equal(ours.to_dense()[s], wanted.to_dense()[0])


def test_each_network_has_weights_of_its_own_that_follow_the_law():
    abreast = NetworksAbreast(50, (30, 40, 1), Bernoulli(0.2), seeded(0))
    assert abreast.weights[0].unique().tolist() == [-0.2, 0.2]
    assert len(abreast.weights[0].flatten(1).unique(dim=0)) == 50


@pytest.mark.parametrize(("count", "widths"), [(0, (2, 1)), (3, (2,)), (3, (2, 0, 1))])
def test_no_networks_are_refused(count: int, widths: tuple[int, ...]):
    with pytest.raises(PenstockError, match="are none; give positive numbers"):
        NetworksAbreast(count, widths, Gaussian(1.0), seeded(0))
