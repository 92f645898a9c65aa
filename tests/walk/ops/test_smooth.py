"""SiLU and GELU: gates that are numbers."""

import pytest
import torch
from torch import nn

from oracle.edges import assert_edges_are_the_module
from penstock import npf


@pytest.mark.parametrize("gate", [nn.SiLU(), nn.GELU(), nn.GELU("tanh")], ids=str)
def test_edges_and_gates_are_the_function(gate):
    model = nn.Sequential(nn.Linear(4, 3), gate, nn.Linear(3, 1), gate).double()
    assert_edges_are_the_module(model, torch.randn(8, 4, dtype=torch.float64))


def test_the_feature_is_the_input_times_the_gates_value():
    x = torch.linspace(-3, 3, 7, dtype=torch.float64)[:, None]
    torch.testing.assert_close(npf(nn.SiLU(), x), x * x.sigmoid())
    torch.testing.assert_close(npf(nn.GELU(), x), x * torch.distributions.Normal(0, 1).cdf(x))
