"""One device, one floating dtype, real numbers, and weights that are there."""

import pytest
import torch
from torch import nn

from penstock import PenstockError
from penstock.model import Placement, placement


def test_it_is_where_the_parameters_are():
    assert placement(nn.Linear(2, 2).half()) == Placement(torch.device("cpu"), torch.float16)


def test_a_model_without_parameters_is_placed_by_its_buffers_or_not_at_all():
    frozen = nn.Module()
    frozen.register_buffer("weight", torch.ones(2, dtype=torch.float64))
    assert placement(frozen).dtype == torch.float64
    assert placement(nn.ReLU()) == Placement(None, None)


def test_buffers_may_have_another_dtype():
    model = nn.Linear(2, 2).bfloat16()
    model.register_buffer("frequencies", torch.ones(3))
    model.register_buffer("counter", torch.tensor(0))
    assert placement(model).dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (
            nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).half()),
            r"one dtype: 0.weight has torch.float32 and 1.weight has torch.float16.*to\(torch.float32\)",
        ),
        (
            nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2, device="meta")),
            r"more than one device: 0.weight has cpu and 1.weight has meta; .*model.to\('cpu'\)",
        ),
        (
            nn.Linear(2, 2, device="meta"),
            "on the meta device, where tensors have no numbers; load its weights",
        ),
        (
            nn.Linear(2, 2, dtype=torch.complex64),
            "weight is torch.complex64, and gates and paths are defined for real",
        ),
        (
            nn.Sequential(nn.Linear(2, 2), nn.LazyLinear(3)),
            r"the layer 1 \(LazyLinear\) has no weights before its first input; call model\(x\) once",
        ),
        (
            nn.Sequential(nn.LazyBatchNorm1d(affine=False)),
            r"the layer 0 \(LazyBatchNorm1d\) has no weights before",
        ),
    ],
)
def test_what_has_no_one_place_is_refused(model, sentence):
    with pytest.raises(PenstockError, match=sentence):
        placement(model)
