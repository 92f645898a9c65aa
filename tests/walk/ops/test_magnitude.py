"""Absolute value: a gate of 1 above 0 and of -1 elsewhere."""

import torch

from networks.inline import Inline
from oracle.edges import assert_edges_are_the_module
from penstock import npf


def test_edges_and_gates_are_the_function():
    assert_edges_are_the_module(Inline(lambda x, w: (x @ w).abs()), torch.randn(8, 4, dtype=torch.float64))


def test_the_feature_is_the_input_with_the_sign_of_the_unit():
    x = torch.tensor([[2.0, 0.0, 0.0, 0.0], [-3.0, 0.0, 0.0, 0.0]], dtype=torch.float64)
    assert npf(Inline(lambda x, w: x.abs()), x)[:, 0].tolist() == [2.0, 3.0]
