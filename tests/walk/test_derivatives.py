"""A graph whose values are right and whose derivatives are not is refused."""

import pytest
import torch
from torch import Tensor

from networks.exported import Inline
from penstock.errors import PenstockError
from penstock.walk.reading import read


def doubling_hook(m: Inline, x: Tensor) -> Tensor:
    h = m.lin(x)
    if h.requires_grad:
        h.register_hook(lambda gradient: 2 * gradient)
    return h


def no_grad_inside_autocast(m: Inline, x: Tensor) -> Tensor:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with torch.no_grad():
            gate = m.lin(x)
        h = m.lin(x) * gate
    return h.float()


@pytest.mark.parametrize("forward", [doubling_hook, no_grad_inside_autocast])
def test_a_derivative_that_export_forgets_is_a_refusal(forward):
    with pytest.raises(PenstockError, match=r"derivatives of Inline.*hooks.*no_grad inside autocast"):
        read(Inline(forward), torch.randn(3, 4))


def test_a_hook_that_only_looks_is_none():
    seen: list[Tensor] = []

    def forward(m: Inline, x: Tensor) -> Tensor:
        h = m.lin(x)
        if h.requires_grad:
            h.register_hook(seen.append)
        return h

    model = Inline(forward)
    model.lin.register_full_backward_hook(lambda module, before, after: None)
    assert read(model, torch.randn(3, 4)).steps
    assert seen


def test_frozen_parameters_are_no_hindrance():
    model = Inline(lambda m, x: m.lin(x).relu()).requires_grad_(False)
    assert read(model, torch.randn(3, 4)).steps
    assert not any(parameter.requires_grad for parameter in model.parameters())
