"""The steps that paths pass, with what stands around each."""

import torch
from torch import nn
from torch.nn.utils import parametrizations

from networks.convolutional import TiedAutoencoder
from oracle.edges import graph_and_sites


def test_steps_that_the_output_does_not_need_are_left_out():
    class Aside(nn.Module):
        def forward(self, x):
            x.exp().sum()
            return x.relu()

    _, places = graph_and_sites(Aside(), torch.randn(3, 2))
    assert [site.step.operation for site in places] == ["relu"]


def test_weights_that_are_computed_are_learnt_and_called_after_their_first_use():
    model = nn.Sequential(parametrizations.weight_norm(nn.Linear(3, 2)), nn.BatchNorm1d(2)).eval()
    _, (linear, norm) = graph_and_sites(model, torch.randn(3, 3))
    assert linear.weight("weight").name == "0.weight"
    assert not linear.weight("weight").fixed
    assert norm.weight("running_mean").fixed


def test_a_tied_weight_has_one_name_and_its_transpose_another():
    _, places = graph_and_sites(TiedAutoencoder(), torch.randn(3, 3, dtype=torch.float64))
    first, last = (site for site in places if site.step.operation == "linear")
    assert first.weight("weight").name == "encoder.weight"
    assert last.weight("weight").name == "linear.weight"
    assert last.weight("bias").name == "shift"
