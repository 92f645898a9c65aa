"""What is asked of a model before it runs, and of what it returns."""

import jaxtyping
import pytest
import torch
from torch import nn

from penstock import PenstockError
from penstock.model import check, check_output


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (
            lambda x: x,
            "the model must be a torch.nn.Module, not function; a function can be put in the forward",
        ),
        (nn.Linear, r"the model is the class Linear; make one of it first: Linear\(…\)"),
        (None, "must be a torch.nn.Module, not NoneType"),
        ({"weight": torch.ones(2)}, "must be a torch.nn.Module, not dict"),
    ],
)
def test_what_is_no_module_is_refused(model, sentence, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # as a user runs it
    with pytest.raises(PenstockError, match=sentence):
        check(model)


def test_a_tensor_with_a_row_an_example_is_what_is_wanted():
    y = torch.ones(3, 2)
    assert check_output(nn.Identity(), y, 3) is y
    check_output(nn.Identity(), torch.ones(3), 3)


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (
            {"logits": torch.ones(3, 2), "loss": 0.0},
            r"Identity returns a dictionary \(logits, loss\), .* "
            r"penstock.adapt\(model, lambda model, batch: model\(batch\)\['logits'\]\)",
        ),
        (
            (torch.ones(3, 2), None),
            r"returns a tuple of 2, and one tensor .* lambda model, batch: model\(batch\)\[0\]\)",
        ),
        ([torch.ones(3, 2)], r"returns a list of 1, and one tensor .* penstock.adapt"),
        (None, "returns nothing, and one tensor is needed; wrap it: penstock.adapt"),
        (3.0, "returns an object of type float"),
        (torch.tensor(1.0), r"returns a single number for 3 examples, .* penstock.adapt"),
        (torch.ones(3, 2, device="meta"), "returns a tensor on the meta device, which has no numbers"),
        (torch.ones(4, 2), "returns 4 rows for 3 examples"),
        (
            torch.tensor([[0.0], [1.0], [torch.nan]]),
            "returns NaN for row 2 of an input without NaN; look at its weights",
        ),
        (torch.tensor([0.0, torch.nan, 1.0]), "returns NaN for row 1"),
    ],
)
def test_anything_else_is_refused_with_the_way_out(y, sentence):
    with pytest.raises(PenstockError, match=sentence):
        check_output(nn.Identity(), y, 3)
