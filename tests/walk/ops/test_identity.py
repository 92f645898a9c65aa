"""Operations that give back what they are given."""

import pytest
import torch
from torch import nn

from networks.inline import Inline
from oracle.edges import assert_edges_are_the_module
from penstock import PenstockError, count_paths, npf, npv


@pytest.mark.parametrize("dropout", [nn.Dropout(), nn.AlphaDropout(), nn.Identity()], ids=str)
def test_dropout_in_evaluation_mode_lets_every_path_pass(dropout):
    model = nn.Sequential(nn.Linear(4, 2), dropout, nn.ReLU()).double().eval()
    assert_edges_are_the_module(model, torch.randn(3, 4, dtype=torch.float64))


def test_a_change_of_precision_lets_every_path_pass():
    model = Inline(lambda x, w: (x.float() @ w.float()).double())
    x = torch.randn(3, 4, dtype=torch.float64)
    assert count_paths(model, input_shape=(4,)) == 4
    torch.testing.assert_close(
        npf(model, x) @ npv(model, input_shape=(4,)), model(x)[:, 0].detach(), rtol=1e-6, atol=1e-7
    )


def test_a_change_to_integers_is_refused():
    model = Inline(lambda x, w: (x @ w).int().double())
    with pytest.raises(PenstockError, match="not affine in the input; keep it floating-point"):
        count_paths(model, input_shape=(4,))
