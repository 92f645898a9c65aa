"""A residual network of ResNet-20's shape."""

from typing import Any

import pytest
import torch
from torch import nn

from penstock.errors import PenstockError
from penstock.lab.models.random_sizes import seeded
from penstock.lab.models.residual import residual_network


def test_three_blocks_a_stage_make_twenty_weight_layers():
    model = residual_network(seeded(0))
    skips = [
        name for name, module in model.named_modules() if isinstance(module, nn.Conv2d) and "skip" in name
    ]
    layers = [module for module in model.modules() if isinstance(module, nn.Conv2d | nn.Linear)]
    assert len(layers) - len(skips) == 20
    assert len(skips) == 2
    stem = 3 * 16 * 9 + 2 * 16
    first = 6 * (16 * 16 * 9 + 2 * 16)
    second = 16 * 32 * 9 + 5 * 32 * 32 * 9 + 6 * 2 * 32 + 16 * 32 + 2 * 32
    third = 32 * 64 * 9 + 5 * 64 * 64 * 9 + 6 * 2 * 64 + 32 * 64 + 2 * 64
    assert sum(p.numel() for p in model.parameters()) == stem + first + second + third + 64 * 10 + 10
    assert model(torch.rand(2, 3, 32, 32)).shape == (2, 10)
    assert model.stages(model.stem(torch.rand(1, 3, 32, 32))).shape == (1, 64, 8, 8)


def test_a_block_adds_its_input_before_the_last_gate_and_writes_in_place():
    model = residual_network(seeded(0), channels=(4,), blocks=1, dtype=torch.float64).eval()
    assert all(module.inplace for module in model.modules() if isinstance(module, nn.ReLU))
    block: Any = model.get_submodule("stages.0.0")
    x = torch.randn(2, 4, 5, 5, generator=seeded(1), dtype=torch.float64)
    bent = block.bn2(block.conv2(block.bn1(block.conv1(x)).clamp(min=0)))
    assert torch.equal(block(x.clone()), (bent + x).clamp(min=0))


def test_weights_follow_the_law_and_normalization_is_as_freshly_made():
    before = torch.random.get_rng_state()
    model = residual_network(seeded(0), law="bernoulli", blocks=1)
    assert torch.equal(torch.random.get_rng_state(), before)
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            assert module.bias is None
            sigma = (2 / module.weight[0].numel()) ** 0.5
            torch.testing.assert_close(module.weight.abs(), torch.full_like(module.weight, sigma))
        if isinstance(module, nn.BatchNorm2d):
            assert module.weight.eq(1).all()
            assert not module.bias.any()


@pytest.mark.parametrize("sizes", [{"blocks": 0}, {"channels": ()}, {"channels": (4, 0)}])
def test_sizes_that_are_no_network_are_refused(sizes: Any):
    with pytest.raises(PenstockError, match="are no network; give positive numbers"):
        residual_network(seeded(0), **sizes)
