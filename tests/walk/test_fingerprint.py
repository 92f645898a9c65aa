"""A fingerprint is the same until something changes, and is cheap."""

import copy
from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn

from networks.fully_connected import fully_connected
from networks.residual import ResNet18
from penstock.walk.fingerprint import mark_of_input, mark_of_model


def test_a_model_that_nobody_changed_has_the_same_mark():
    model = ResNet18(width=4).eval()
    before = mark_of_model(model)
    with torch.no_grad():
        model(torch.randn(2, 3, 8, 8))
        for parameter in model.parameters():
            parameter.mul_(2)
    model.load_state_dict(ResNet18(width=4).state_dict())
    assert mark_of_model(model) == before


def test_what_a_forward_pass_keeps_is_no_change():
    model = fully_connected(2, 3, 1)
    model.last = torch.ones(1)  # pyright: ignore
    before = mark_of_model(model)
    model.last = torch.zeros(4)  # pyright: ignore
    assert mark_of_model(model) == before


def test_a_copy_is_another_model_and_so_is_one_in_another_mode():
    model = fully_connected(2, 3, 1)
    assert mark_of_model(copy.deepcopy(model)) != mark_of_model(model)
    before = mark_of_model(model)
    model.eval()
    assert mark_of_model(model) != before


def test_attributes_count_by_value_and_functions_by_identity():
    model = nn.Module()
    marks = []
    for value in (
        1,
        2.5,
        "a",
        None,
        (1, 2),
        [1, [2]],
        {"a": 1},
        F.relu,
        torch.float64,
        OrderedDict(b=(1, 2)),
    ):
        model.setting = value  # pyright: ignore
        marks.append(mark_of_model(model))
        assert mark_of_model(model) == marks[-1]
    assert len(set(marks)) == len(marks)


def test_a_hook_that_replaces_another_is_a_change():
    model = fully_connected(2, 3, 1)
    handle = model.register_forward_hook(lambda *given: None)
    before = mark_of_model(model)
    handle.remove()
    model.register_forward_hook(lambda *given: None)
    assert mark_of_model(model) != before


def test_of_inputs_shape_dtype_and_surroundings_count_and_their_number_does_not():
    x = torch.randn(3, 2)
    assert mark_of_input(x) == mark_of_input(torch.zeros(7, 2))
    assert mark_of_input(x) != mark_of_input(x.double())
    assert mark_of_input(x) != mark_of_input(torch.randn(3, 4))
    before = mark_of_input(x)
    torch.set_default_dtype(torch.float64)
    try:
        assert mark_of_input(x) != before
    finally:
        torch.set_default_dtype(torch.float32)
