"""Fully connected networks as N Table 1 has them."""

import pytest
import torch
from torch import nn

from penstock.errors import PenstockError
from penstock.lab.models.fully_connected import deep_linear_network, random_relu_network, relu_network
from penstock.lab.models.initialization import Bernoulli, Gaussian
from penstock.lab.models.random_sizes import seeded


def test_a_relu_network_is_linear_layers_with_relu_between():
    model = relu_network((2, 3, 4, 1), Gaussian(1.0), seeded(0))
    assert [type(module) for module in model] == [nn.Linear, nn.ReLU, nn.Linear, nn.ReLU, nn.Linear]
    assert [tuple(weight.shape) for weight in model.parameters()] == [(3, 2), (4, 3), (1, 4)]
    x = torch.randn(5, 2, dtype=torch.float64, generator=seeded(1))
    first, second, last = (weight.detach() for weight in model.parameters())
    by_hand = (((x @ first.T).relu() @ second.T).relu()) @ last.T
    assert torch.equal(model(x), by_hand)


def test_biases_start_at_zero():
    model = relu_network((2, 3, 1), Bernoulli(0.5), seeded(0), bias=True)
    biases = {name: parameter for name, parameter in model.named_parameters() if name.endswith("bias")}
    assert {name: bias.tolist() for name, bias in biases.items()} == {"0.bias": [0, 0, 0], "2.bias": [0]}
    assert all(bias.requires_grad for bias in biases.values())


def test_a_deep_linear_network_has_the_same_weights_from_the_same_generator():
    relu = relu_network((2, 3, 3, 1), Gaussian(1.0), seeded(4))
    linear = deep_linear_network((2, 3, 3, 1), Gaussian(1.0), seeded(4))
    assert all(torch.equal(a, b) for a, b in zip(relu.parameters(), linear.parameters(), strict=True))
    assert all(isinstance(module, nn.Linear) for module in linear)


def test_nothing_touches_the_global_random_state():
    before = torch.random.get_rng_state()
    random_relu_network(seeded(0), torch.float32, bias=True)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("widths", [(), (3,), (2, 0, 1)])
def test_widths_that_are_no_network_are_refused(widths: tuple[int, ...]):
    with pytest.raises(PenstockError, match="is no network; give two positive numbers or more"):
        relu_network(widths, Gaussian(1.0), seeded(0))
