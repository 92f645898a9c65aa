"""Where a module turns the number of examples into a fixed number: the layer and the line."""

import inspect
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from networks.exported import Inline
from penstock.walk.pinned import where_pinned


def a_view(h: Tensor) -> Tensor:
    return h.view(2, -1)  # here


def a_length(h: Tensor) -> Tensor:
    rows = len(h)  # here
    return h.reshape(rows, -1)


def a_loop(h: Tensor) -> Tensor:
    return torch.stack([row * 2 for row in h])  # here


def a_condition(h: Tensor) -> Tensor:
    if h.shape[0] > 2:
        h = h * 2
    return h.relu()  # here: the first call after the condition


class Inner(nn.Module):
    def __init__(self, function: Callable[[Tensor], Tensor]):
        super().__init__()
        self.function = function

    def forward(self, h: Tensor) -> Tensor:
        return self.function(h)


@pytest.mark.parametrize("function", [a_view, a_length, a_loop, a_condition], ids=lambda one: one.__name__)
def test_the_line_is_found_wherever_the_batch_is_pinned(function: Callable[[Tensor], Tensor]):
    lines, first = inspect.getsourcelines(function)
    line = first + next(i for i, text in enumerate(lines) if "# here" in text)
    place = where_pinned(Inline(lambda m, x: m.inner(m.lin(x)), inner=Inner(function)), torch.randn(3, 4))
    assert place.module == "inner"
    assert place.source == f"line {line} of test_pinned.py"


def test_where_nothing_is_pinned_no_place_is_named():
    assert str(where_pinned(Inline(lambda m, x: m.lin(x)), torch.randn(3, 4))) == ""
