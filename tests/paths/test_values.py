"""Neural path values: N Definition 2.1."""

import pytest
import torch
from torch import nn

from networks.convolutional import circular, unrolled
from networks.fully_connected import fully_connected
from penstock import list_paths, npv


def test_a_value_is_the_product_of_the_weights_on_the_path():
    model = fully_connected(2, 3, 3, 1, bias=True)
    parameters = dict(model.named_parameters())
    for path, value in zip(list_paths(model), npv(model).tolist(), strict=True):
        product = 1.0
        for weight in path.weights:
            product *= parameters[weight.name][weight.index].item()
        assert value == pytest.approx(product, rel=1e-14)


@pytest.mark.parametrize("bias", [False, True])
def test_a_convolutional_network_has_the_paths_of_its_unrolled_twin_that_carry_weights(bias):
    """Weight sharing aside, a convolution is a matrix with many zeros; the paths through no zero are its
    paths.
    """
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 2, 2, bias=bias),
        nn.ReLU(),
        nn.Conv2d(2, 1, 2, bias=bias),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(1, 1, bias=bias),
    ).double()
    twin = unrolled(model, 1, 3, 3)
    values, every = npv(model, input_shape=(1, 3, 3)), npv(twin)
    carried = every != 0
    torch.testing.assert_close(every[carried], values, rtol=1e-12, atol=0)
    # the twin's Flatten is a matrix as well, with a node of its own
    starts = torch.from_numpy(list_paths(twin).nodes)[carried][:, :3]
    assert torch.equal(starts, torch.from_numpy(list_paths(model, input_shape=(1, 3, 3)).nodes)[:, :3])


def test_pooling_by_the_mean_is_a_weight():
    """Figure 9 of D: θ1 θ2 θ3 · 1/3."""
    model = circular()
    kernels = [layer.weight.detach().flatten() for layer in model.modules() if isinstance(layer, nn.Conv1d)]
    strengths = torch.einsum("i,j,k->ijk", *kernels).flatten() / 3
    found = npv(model, input_shape=(1, 3))
    torch.testing.assert_close(found.sort().values, strengths.repeat(3).sort().values)


def test_values_follow_the_weights():
    last = nn.Linear(3, 1, bias=False)
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), last)
    before = npv(model)
    with torch.no_grad():
        last.weight.mul_(2)
    torch.testing.assert_close(npv(model), 2 * before)


def test_a_frozen_model_has_the_same_values():
    model = fully_connected(2, 3, 1)
    torch.testing.assert_close(npv(model.requires_grad_(False)), npv(fully_connected(2, 3, 1)))
