"""Matrix products with something held, on either side, in every spelling that torch has."""

import pytest
import torch
from torch import Tensor, nn

from oracle.edges import assert_edges_are_the_module
from penstock import PenstockError, count_paths


class Product(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
        self.w = nn.Parameter(torch.randn(4, 4, dtype=torch.float64))
        self.v = nn.Parameter(torch.randn(4, dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x, self.w, self.v)


@pytest.mark.parametrize(
    "function",
    {
        "x W": lambda x, w, v: x @ w,
        "x Wᵀ + v": lambda x, w, v: x @ w.T + v,
        "W x": lambda x, w, v: (w @ x.T).T,
        "W x relu": lambda x, w, v: (w @ torch.relu(w @ x.T)).T,
        "x v": lambda x, w, v: torch.mv(x, v)[:, None],
        "W X, X a matrix": lambda x, w, v: (w[:2, :2] @ x.reshape(-1, 2, 2)).flatten(1),
        "X W, X a matrix": lambda x, w, v: (x.reshape(-1, 2, 2) @ w[:2]).flatten(1),
        "a W for each row": lambda x, w, v: torch.matmul(x.reshape(-1, 2, 1, 2), w.reshape(2, 2, 4)).flatten(
            1
        ),
        "X v": lambda x, w, v: x.reshape(-1, 2, 2) @ v[:2],
        "vᵀ X": lambda x, w, v: v[:2] @ x.reshape(-1, 2, 2),
        "bmm": lambda x, w, v: torch.bmm(x[:, None], w.expand(x.shape[0], 4, 4))[:, 0],
        "addmm": lambda x, w, v: torch.addmm(v, x, w, beta=0.5, alpha=2.0),
        "addmm of the signal": lambda x, w, v: torch.addmm(x, x, w),
        "addmv": lambda x, w, v: torch.addmv(x[:, 0], x, v, alpha=-1)[:, None],
        "baddbmm": lambda x, w, v: torch.baddbmm(v, x[:, None], w.expand(x.shape[0], 4, 4))[:, 0],
    }.items(),
    ids=lambda item: item[0],
)
def test_edges_are_the_product(function):
    assert_edges_are_the_module(Product(function[1]), torch.randn(3, 4, dtype=torch.float64))


def test_a_product_of_two_signals_is_refused_by_name():
    model = Product(lambda x, w, v: (x.reshape(-1, 2, 2) @ (x @ w).reshape(-1, 2, 2)).flatten(1))
    with pytest.raises(PenstockError, match=r"matmul, line \d+ of test_matmul.py multiplies two signals"):
        count_paths(model, input_shape=(4,))
