"""ReLU, LeakyReLU and PReLU: a gate of 1 above 0 and of the slope elsewhere."""

import pytest
import torch
from torch import nn

from oracle.edges import assert_edges_are_the_module
from penstock import list_paths, npf


@pytest.mark.parametrize(
    "gate",
    [nn.ReLU(), nn.ReLU(inplace=True), nn.LeakyReLU(), nn.LeakyReLU(0.3), nn.PReLU(), nn.PReLU(3)],
    ids=str,
)
def test_edges_and_gates_are_the_function(gate):
    model = nn.Sequential(nn.Linear(4, 3), gate, nn.Linear(3, 1)).double()
    assert_edges_are_the_module(model, torch.randn(8, 4, dtype=torch.float64))


def test_prelu_has_a_slope_for_each_channel():
    gate = nn.PReLU(2)
    nn.init.uniform_(gate.weight)
    model = nn.Sequential(nn.Conv1d(1, 2, 1), gate, nn.Flatten()).double()
    assert_edges_are_the_module(model, torch.randn(5, 1, 3, dtype=torch.float64))


@pytest.mark.parametrize(
    ("gate", "shut"), [(nn.ReLU(), 0.0), (nn.LeakyReLU(0.3), 0.3), (nn.PReLU(init=0.7), 0.7)]
)
def test_the_feature_of_a_single_unit(gate, shut):
    """φ = x G(x), where the gate at exactly 0 is shut (N Table 1)."""
    x = torch.tensor([[2.0], [-2.0], [0.0]], dtype=torch.float64)
    assert npf(gate.double(), x)[:, 0].tolist() == pytest.approx([2.0, -2.0 * shut, 0.0])


def test_a_gate_makes_no_node_and_has_no_weight():
    (path,) = list_paths(nn.ReLU(), input_shape=(1,))
    assert path == (0,)
    assert path.weights == ()
