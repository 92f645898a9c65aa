"""Products and quotients, entry by entry, with something held."""

import pytest
import torch

from networks.inline import Inline
from oracle.edges import assert_edges_are_the_module
from penstock import PenstockError, count_paths, list_paths, npv


@pytest.mark.parametrize(
    "function",
    {
        "a parameter": lambda x, w: x * w[0],
        "a parameter before": lambda x, w: w[0] * x,
        "one number of a parameter": lambda x, w: x * w[0, 0],
        "a constant": lambda x, w: 0.5 * x,
        "a mask": lambda x, w: x * torch.tensor([1.0, 0.0, 1.0, 1.0]).to(x),
        "broadcast over positions": lambda x, w: (x.reshape(-1, 2, 2) * w[:2, :1]).flatten(1),
        "broadcast of the signal": lambda x, w: (x[:, :, None] * w).flatten(1),
        "divided by a constant": lambda x, w: x / 3,
        "divided by a parameter": lambda x, w: x / w[0],
        "in place": lambda x, w: x.clone().mul_(2).div_(w[1]),
    }.items(),
    ids=lambda item: item[0],
)
def test_edges_are_the_product(function):
    assert_edges_are_the_module(Inline(function[1]), torch.randn(3, 4, dtype=torch.float64))


def test_a_constant_factor_is_a_weight_of_that_value():
    (path,) = list_paths(Inline(lambda x, w: x / 4), input_shape=(4,))
    assert [letter.constant for letter in path.weights] == [0.25]
    assert npv(Inline(lambda x, w: x / 4), input_shape=(4,)).tolist() == [0.25]


def test_a_parameter_that_divides_is_named_by_its_inverse():
    model = Inline(lambda x, w: x / w[0])
    (path,) = list_paths(model, input_shape=(4,), output=3)
    assert [str(letter) for letter in path.weights] == ["1/div.other[3]"]
    assert float(npv(model, input_shape=(4,), output=3)) == pytest.approx(1 / model.w[0, 3].item(), rel=1e-15)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x, w: x * (x @ w), "multiplies two signals"),
        (lambda x, w: x * torch.sigmoid(x), "sigmoid"),
        (lambda x, w: w[0] / x, "reciprocal|divides by a signal"),
        (lambda x, w: x / (1 + x.abs()), "divides by a signal"),
    ],
)
def test_products_and_quotients_of_signals_are_refused(function, reason):
    with pytest.raises(PenstockError, match=reason):
        count_paths(Inline(function), input_shape=(4,))
