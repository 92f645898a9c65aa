"""What a question about paths is asked with: the shape of an example, and an output that is there."""

import pytest
import torch
from torch import nn

from networks.fully_connected import fully_connected
from penstock import PenstockError, adapt, count_paths


def test_a_net_that_begins_with_a_linear_layer_needs_no_shape():
    assert count_paths(nn.Sequential(nn.Flatten(), nn.Linear(6, 2, bias=False))) == 6
    assert count_paths(nn.Sequential(nn.Flatten(), nn.Linear(6, 2, bias=False)), input_shape=(2, 3)) == 6


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (nn.Sequential(nn.Conv2d(1, 1, 1), nn.Flatten()), r"0 \(Conv2d\).* input_shape=\(3, 32, 32\)"),
        (nn.ReLU(), r"input_shape=\(784,\)"),
    ],
)
def test_any_other_net_asks_for_one(model, reason):
    with pytest.raises(PenstockError, match=reason):
        count_paths(model)


@pytest.mark.parametrize("shape", [(), (0,), (-1, 2)])
def test_what_is_no_shape_is_refused(shape):
    with pytest.raises(PenstockError, match="the shape of one example without the batch"):
        count_paths(nn.ReLU(), input_shape=shape)


def test_a_shape_may_be_a_list_or_a_torch_size():
    assert count_paths(nn.ReLU(), input_shape=[2]) == count_paths(nn.ReLU(), input_shape=torch.Size([2])) == 1


def test_a_shape_that_does_not_fit_the_module_is_refused():
    with pytest.raises(PenstockError, match="takes 2 features and is given 5"):
        count_paths(fully_connected(2, 3, 1), input_shape=(5,))


def test_an_output_of_more_dimensions_is_refused_with_the_way_out():
    with pytest.raises(PenstockError, match=r"examples × 2 × 2 × 2.*penstock.adapt.*flatten\(1\)"):
        count_paths(nn.Conv2d(1, 2, 2), input_shape=(1, 3, 3))
    flat = adapt(nn.Conv2d(1, 2, 2, bias=False), lambda model, x: model(x).flatten(1))
    assert count_paths(flat, input_shape=(1, 3, 3), output=7) == 4


def test_an_output_without_a_dimension_of_its_own_is_refused_with_the_way_out():
    class Single(nn.Module):
        def forward(self, x):
            return x.sum(1)

    with pytest.raises(PenstockError, match=r"model\(x\)\[:, None\]"):
        count_paths(Single(), input_shape=(3,))


def test_the_random_state_is_left_alone():
    before = torch.random.get_rng_state()
    count_paths(fully_connected(2, 3, 1, seed=1))
    torch.manual_seed(1)
    state = torch.random.get_rng_state()
    count_paths(nn.ReLU(), input_shape=(3,))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert before.shape == state.shape
