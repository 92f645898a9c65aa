"""Fully connected networks as N Table 1 has them."""

import pytest
import torch
from torch import nn

from penstock.errors import PenstockError
from penstock.lab.models.fully_connected import (
    deep_linear_network,
    fc_network,
    random_relu_network,
    relu_network,
    tapering_network,
)
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


def test_fc_has_five_hidden_layers_of_128_and_is_glorot_uniform():
    model = fc_network(seeded(0))
    assert model(torch.rand(3, 1, 28, 28)).shape == model(torch.rand(3, 784)).shape == (3, 10)
    weights = [module.weight for module in model if isinstance(module, nn.Linear)]
    assert [tuple(weight.shape) for weight in weights] == [(128, 784), *[(128, 128)] * 4, (10, 128)]
    # 784·128 + 128, four times 128·128 + 128, 128·10 + 10
    assert sum(parameter.numel() for parameter in model.parameters()) == 100_480 + 4 * 16_512 + 1_290
    for weight in weights:
        end = (6 / sum(weight.shape)) ** 0.5
        assert 0.98 * end < weight.abs().max() <= end
        assert weight.dtype == torch.float32
    assert all(not module.bias.any() for module in model if isinstance(module, nn.Linear))


def test_the_network_of_d_figure_5_has_seven_weight_layers():
    model = tapering_network(seeded(0))
    assert [module.out_features for module in model if isinstance(module, nn.Linear)] == [
        512,
        512,
        256,
        256,
        128,
        64,
        10,
    ]
    assert sum(isinstance(module, nn.ReLU) for module in model) == 6
    counts = (401_920, 262_656, 131_328, 65_792, 32_896, 8_256, 650)
    assert sum(parameter.numel() for parameter in model.parameters()) == sum(counts)
    assert model(torch.rand(2, 1, 28, 28)).shape == (2, 10)


def test_sizes_and_the_law_are_settings():
    model = fc_network(seeded(0), inputs=64, classes=2, width=7, hidden=1, law="bernoulli")
    first, last = (module for module in model if isinstance(module, nn.Linear))
    assert first.weight.shape == (7, 64)
    assert last.weight.shape == (2, 7)
    assert torch.allclose(last.weight.abs(), torch.tensor((2 / 7) ** 0.5))


def test_nothing_touches_the_global_random_state():
    before = torch.random.get_rng_state()
    random_relu_network(seeded(0), torch.float32, bias=True)
    fc_network(seeded(0))
    tapering_network(seeded(0))
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("widths", [(), (3,), (2, 0, 1)])
def test_widths_that_are_no_network_are_refused(widths: tuple[int, ...]):
    with pytest.raises(PenstockError, match="is no network; give two positive numbers or more"):
        relu_network(widths, Gaussian(1.0), seeded(0))
