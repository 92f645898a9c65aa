"""A module is run once before it is exported: what it says of its input is told first."""

import pytest
import torch
from torch import Tensor, nn

from networks.exported import Inline
from penstock.errors import PenstockError
from penstock.walk.rehearsal import rehearse


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        return 2 * x

    @staticmethod
    def backward(ctx, *gradients):
        return 2 * gradients[0]


def test_a_good_module_passes_and_is_left_as_found():
    model, rows = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(4, 2)), torch.randn(3, 4)
    before = rows.clone()
    rehearse(model, rows)
    assert torch.equal(rows, before)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_an_autograd_function_is_found_wherever_it_stands():
    def forward(m: Inline, x: Tensor) -> Tensor:
        return m.lin(x) + torch.relu(Doubled.apply(m.lin(x)))

    with pytest.raises(PenstockError, match=r"^Doubled, line \d+ of test_rehearsal.py is an autograd"):
        rehearse(Inline(forward), torch.randn(3, 4))


def test_a_function_that_no_gradient_passes_is_none_of_our_business():
    rehearse(Inline(lambda m, x: m.lin(x) * Doubled.apply(x.detach())), torch.randn(3, 4))


def test_an_operator_of_torch_library_is_none():
    @torch.library.custom_op("penstock_tests::rectified", mutates_args=())
    def rectified(x: Tensor) -> Tensor:
        return x.relu()

    rectified.register_fake(torch.empty_like)
    rehearse(Inline(lambda m, x: rectified(m.lin(x))), torch.randn(3, 4))


def test_what_is_not_an_error_of_the_module_is_not_caught():
    class Interrupted(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rehearse(Interrupted(), torch.randn(3, 4))
