"""ReLU6, hardtanh, clamp: beyond its ends a unit is shut, and adds a held number by a path from there."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from networks.inline import Inline
from oracle.edges import assert_edges_are_the_module
from penstock import PenstockError, list_paths, npf, npv


@pytest.mark.parametrize(
    "function",
    {
        "relu6": lambda x, w: functional.relu6(4 * x @ w),
        "hardtanh": lambda x, w: functional.hardtanh(x @ w, -0.3, 0.1),
        "clamp from below at 0": lambda x, w: (x @ w).clamp(min=0),
        "clip": lambda x, w: torch.clip(x @ w, -0.25),
        "threshold at 0": lambda x, w: functional.threshold(x @ w, 0.0, 0.0),
        "threshold": lambda x, w: functional.threshold(x @ w, 0.25, 0.25),
        "clamp_min": lambda x, w: torch.clamp_min(x @ w, 0.5),
        "clamp_max": lambda x, w: torch.clamp_max(x @ w, 0.5),
        "clamp from both sides": lambda x, w: (x @ w).clamp(-0.25, 0.5),
        "in place": lambda x, w: (x @ w).clamp_(0, 6),
        "the batch behind": lambda x, w: functional.relu6(4 * w @ x.T).T,
    }.items(),
    ids=lambda item: item[0],
)
def test_edges_and_gates_are_the_function(function):
    assert_edges_are_the_module(Inline(function[1]), 2 * torch.randn(8, 4, dtype=torch.float64))


def test_the_two_paths_of_a_relu6():
    """From the input with gate [0 < q < 6], and from an input of 1 with the activity 6·[q ≥ 6]."""
    model = nn.ReLU6()
    x = torch.tensor([[-1.0], [2.0], [6.0], [9.0]])
    through, held = list_paths(model, input_shape=(1,))
    assert (through, held) == ((0,), (-1, 0))
    assert npf(model, x).tolist() == [[-0.0, 0.0], [2.0, 0.0], [0.0, 6.0], [0.0, 6.0]]
    assert npv(model, input_shape=(1,)).tolist() == [1.0, 1.0]


def test_clamp_from_below_at_zero_is_a_relu():
    clamped, relu = Inline(lambda x, w: (x @ w).clamp(min=0)), Inline(lambda x, w: (x @ w).relu())
    x = torch.randn(5, 4, dtype=torch.float64)
    torch.testing.assert_close(npf(clamped, x), npf(relu, x))


def test_gates_after_a_clamp_are_their_own():
    model = Inline(lambda x, w: (((x @ w).clamp(min=0) @ w).clamp(max=0.5) @ w).relu())
    x = torch.randn(5, 4, dtype=torch.float64)
    torch.testing.assert_close(npf(model, x) @ npv(model, input_shape=(4,)), model(x)[:, 0].detach())


def test_a_threshold_that_jumps_is_refused():
    model = Inline(lambda x, w: functional.threshold(x @ w, 0.25, 0.0))
    with pytest.raises(PenstockError, match=r"threshold, line .* jumps from 0 to 0.25 .* x.clamp\(min=…\)"):
        npv(model, input_shape=(4,))
