"""Every form of every ReLU-like function is read as the same thing."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from penstock import PenstockError
from penstock.gates.calls import is_activation, reading_of
from penstock.gates.kinds import AdaptiveChoice, Choice, Clipped, Magnitude, Rectifier, Smooth

q = torch.randn(2, 3, 4, 4)


def read(function, *args, **kwargs):
    reading = reading_of(function)
    assert reading is not None, f"{function} is not known"
    call = reading.read(args, kwargs)
    assert call is not None, f"{args} {kwargs} cannot be read"
    return reading.function, call


@pytest.mark.parametrize(
    ("function", "arguments", "name", "kind"),
    [
        (torch.relu, {}, "relu", Rectifier()),
        (torch.Tensor.relu_, {}, "relu", Rectifier()),
        (F.relu, {"inplace": True}, "relu", Rectifier()),
        (torch.ops.aten.relu, {}, "relu", Rectifier()),
        (torch.ops.aten.relu_.default, {}, "relu", Rectifier()),
        (F.leaky_relu, {}, "leaky_relu", Rectifier(0.01)),
        (F.leaky_relu_, {"negative_slope": 0.3}, "leaky_relu", Rectifier(0.3)),
        (F.rrelu, {"lower": 0.1, "upper": 0.3}, "rrelu", Rectifier(0.2)),
        (F.threshold, {"threshold": 0, "value": 0}, "threshold", Rectifier()),
        (torch.clamp, {"min": 0}, "clamp", Rectifier()),
        (torch.Tensor.clamp_, {"min": -0.0}, "clamp", Rectifier()),
        (torch.clamp, {"min": np.float32(0), "max": math.inf}, "clamp", Rectifier()),
        (torch.clip, {"min": 0, "max": 2}, "clip", Clipped(0.0, 2.0)),
        (torch.clamp_min, {"min": 0}, "clamp_min", Rectifier()),
        (F.relu6, {}, "relu6", Clipped(0.0, 6.0)),
        (F.hardtanh, {}, "hardtanh", Clipped(-1.0, 1.0)),
        (F.hardtanh, {"min_val": 0, "max_val": 3}, "hardtanh", Clipped(0.0, 3.0)),
        (torch.abs, {}, "abs", Magnitude()),
        (torch.Tensor.absolute, {}, "absolute", Magnitude()),
        (F.silu, {}, "silu", Smooth.silu()),
        (F.gelu, {}, "gelu", Smooth.gelu()),
        (F.gelu, {"approximate": "tanh"}, "gelu", Smooth.gelu("tanh")),
        (F.max_pool2d, {"kernel_size": 2}, "max_pool2d", Choice.of(2, 2)),
        (
            torch.max_pool2d,
            {"kernel_size": (3, 2), "stride": 1, "padding": 1, "dilation": 2, "ceil_mode": True},
            "max_pool2d",
            Choice.of(2, (3, 2), 1, 1, 2, True),
        ),
        (
            F.adaptive_max_pool2d,
            {"output_size": (2, None)},
            "adaptive_max_pool2d",
            AdaptiveChoice.of(2, (2, None)),
        ),
    ],
)
def test_a_call_is_read_as_its_kind(function, arguments, name, kind):
    function_name, call = read(function, q, **arguments)
    assert function_name == name
    assert call.kind == kind


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (torch.clamp, {"min": -1, "max": 1}),
        (torch.clamp, {"max": 0}),
        (torch.clamp, {"min": 0.1}),
        (torch.clamp, {"min": torch.zeros(())}),
        (torch.clamp, {"min": 0, "max": torch.ones(())}),
        (torch.clamp_min, {"min": 1}),
        (F.threshold, {"threshold": 0.1, "value": 0}),
        (F.threshold, {"threshold": 0, "value": 1}),
    ],
)
def test_a_call_that_is_no_gate_has_no_kind(function, arguments):
    assert read(function, q, **arguments)[1].kind is None


@pytest.mark.parametrize(
    "function", [torch.sigmoid, F.elu, F.celu, F.selu, F.softplus, F.mish, F.hardswish, torch.add, [], None]
)
def test_other_functions_are_not_read(function):
    assert reading_of(function) is None


def test_the_names_of_arguments_may_be_those_of_any_form():
    assert read(torch.relu, input=q)[1].q is q
    assert read(torch.ops.aten.relu.default, self=q)[1].q is q
    assert read(torch.Tensor.clip, q, min=0)[1].kind == Rectifier()
    assert read(torch.Tensor.clamp, q, 0, 2)[1].kind == Clipped(0.0, 2.0)


def test_it_is_known_which_calls_are_in_place():
    assert read(F.relu, q, inplace=True)[1].inplace
    assert read(torch.relu_, q)[1].inplace
    assert not read(F.relu, q, inplace=False)[1].inplace
    assert not read(torch.Tensor.__abs__, q)[1].inplace


def test_it_is_known_which_calls_return_the_places_of_the_maxima():
    def pairs(function, *args, **kwargs):
        assert (
            isinstance(function(q, *args, **kwargs), tuple) is read(function, q, *args, **kwargs)[1].indices
        )
        return read(function, q, *args, **kwargs)[1].indices

    assert pairs(F.max_pool2d, 2, return_indices=True)
    assert pairs(F.max_pool2d_with_indices, 2)
    assert pairs(F.adaptive_max_pool2d, 2, return_indices=True)
    assert pairs(torch.ops.aten.max_pool2d_with_indices, [2])
    assert pairs(torch.ops.aten.adaptive_max_pool2d, [2, 2])
    assert not pairs(F.max_pool2d, 2)
    assert not pairs(torch.max_pool2d, 2)
    assert not pairs(F.adaptive_max_pool2d, 2)


def test_random_slopes_are_refused():
    with pytest.raises(
        PenstockError, match=r"rrelu draws its slopes at random in training mode; call model.eval"
    ):
        read(F.rrelu, q, training=True)


def test_the_slope_of_prelu_is_its_weight():
    weight = torch.tensor([0.1, 0.2, 0.3])
    assert read(F.prelu, q, weight)[1].kind == Rectifier(weight)


class Overridden(nn.ReLU):
    def forward(self, input):
        return torch.relu(input) + F.leaky_relu(input)


def test_torchs_own_activations_are_told_from_modules_of_the_users():
    assert is_activation(nn.ReLU())
    assert is_activation(nn.MaxPool2d(2))
    assert is_activation(nn.AdaptiveMaxPool1d(2))
    assert not is_activation(Overridden())
    assert not is_activation(nn.Sequential(nn.ReLU()))
    assert not is_activation(nn.TransformerEncoderLayer(4, 1, 4))
