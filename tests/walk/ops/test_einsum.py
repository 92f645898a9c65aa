"""Products written as an equation."""

import pytest
import torch
from torch import Tensor, nn

from oracle.edges import assert_edges_are_the_module
from penstock import PenstockError, count_paths


class Equation(nn.Module):
    def __init__(self, equation: str, *shape: int):
        super().__init__()
        self.equation = equation
        self.w = nn.Parameter(torch.randn(*shape, dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum(self.equation, x, self.w).flatten(1)


@pytest.mark.parametrize(
    ("equation", "shape"),
    [
        ("nij,jo->nio", (3, 2)),
        ("nij,ijo->no", (2, 3, 2)),
        ("nij,oi->njo", (2, 2)),
        ("nij,ij->nij", (2, 3)),
        ("nij,ij->ni", (2, 3)),
        ("n i j, j -> n i", (3,)),
        ("nij,o->nijo", (2,)),
    ],
)
def test_edges_are_the_equation(equation, shape):
    assert_edges_are_the_module(Equation(equation, *shape), torch.randn(3, 2, 3, dtype=torch.float64))


def test_a_single_factor_is_rearranged_and_added_up():
    class Sum(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.einsum("nij->nj", x)

    assert_edges_are_the_module(Sum(), torch.randn(3, 2, 3, dtype=torch.float64))


@pytest.mark.parametrize(
    ("equation", "shape"), [("aij,jo", (3, 2)), ("n...,...o->no", (2, 3, 2)), ("nij,jj->ni", (3, 3))]
)
def test_an_equation_with_dots_repeats_or_no_arrow_is_refused(equation, shape):
    with pytest.raises(PenstockError, match="write it with an arrow"):
        count_paths(Equation(equation, *shape), input_shape=(2, 3))
