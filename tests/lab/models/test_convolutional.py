"""VCONV and GCONV as N Section 6.1 and its authors' code have them."""

import pytest
import torch
from torch import nn

from penstock.errors import PenstockError
from penstock.lab.models.convolutional import gconv_network, vconv_network
from penstock.lab.models.random_sizes import seeded

# 3·64·9 + 64, 64·64·9 + 64, 64·128·9 + 128, 128·128·9 + 128
CONVOLUTIONS = 1_792 + 36_928 + 73_856 + 147_584
# 256·256 + 256, 256·10 + 10
DENSE, LAST = 65_792, 2_570


def parameters(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def test_vconv_has_the_papers_sizes():
    model = vconv_network(seeded(0))
    assert parameters(model) == CONVOLUTIONS + (128 * 32 * 32 * 256 + 256) + DENSE + LAST
    for module in model:
        if isinstance(module, nn.Conv2d):
            assert (module.kernel_size, module.stride, module.padding) == ((3, 3), (1, 1), (1, 1))
    assert sum(isinstance(module, nn.ReLU) for module in model) == 6
    assert model(torch.rand(1, 3, 32, 32)).shape == (1, 10)


def test_gconv_has_the_papers_sizes_and_the_second_versions_single_dense_layer():
    assert parameters(gconv_network(seeded(0))) == CONVOLUTIONS + (128 * 256 + 256) + DENSE + LAST
    once = gconv_network(seeded(0), dense=(256,))
    assert parameters(once) == CONVOLUTIONS + (128 * 256 + 256) + LAST
    assert once(torch.rand(2, 3, 32, 32)).shape == (2, 10)


def test_they_start_glorot_uniform_where_a_kernel_counts_in_both_fans():
    model = gconv_network(seeded(0))
    third = model[4]
    assert isinstance(third, nn.Conv2d)
    end = (6 / (64 * 9 + 128 * 9)) ** 0.5
    assert 0.99 * end < third.weight.abs().max() <= end
    assert third.bias is not None
    assert not third.bias.any()
    assert third.weight.dtype == torch.float32


def test_gconv_is_vconv_after_the_mean_over_positions():
    """With one generator the convolutions are the same; the dense layers see the mean of each channel."""
    sizes = {"image": (1, 4, 4), "channels": (3, 5), "dense": (6,), "classes": 2}
    vconv, gconv = vconv_network(seeded(1), **sizes), gconv_network(seeded(1), **sizes)
    x = torch.randn(3, 1, 4, 4, generator=seeded(2))
    seen = vconv[:4](x)
    assert torch.equal(seen, gconv[:4](x))
    torch.testing.assert_close(gconv[6:](seen.mean(dim=(2, 3))), gconv(x))


def test_nothing_touches_the_global_random_state():
    before = torch.random.get_rng_state()
    one = gconv_network(seeded(3), channels=(4, 4))
    assert torch.equal(torch.random.get_rng_state(), before)
    same = gconv_network(seeded(3), channels=(4, 4))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), same.parameters(), strict=True))


def test_no_channels_are_refused():
    with pytest.raises(PenstockError, match=r"channels=\(\) on images \(3, 32, 32\) is no network"):
        vconv_network(seeded(0), channels=())
