"""Inputs and what is wanted for them stay one row an example."""

import pytest
import torch

from penstock import PenstockError
from penstock.training.examples import Examples

X = torch.arange(8.0).reshape(4, 2)
LABELS = torch.tensor([3, 1, 2, 0])


def test_a_pair_that_knows_how_many_examples_it_holds():
    x, y = examples = Examples(X, LABELS)
    assert x is X
    assert y is LABELS
    assert examples.count == 4


@pytest.mark.parametrize(
    "rows", [torch.tensor([2, 0]), torch.tensor([True, False, True, False]), slice(0, 4, 2)], ids=str
)
def test_inputs_and_targets_are_selected_together(rows: torch.Tensor | slice):
    some = Examples(X, LABELS).select(rows)
    assert torch.equal(some.x, X[rows])
    assert torch.equal(some.y, LABELS[rows])


def test_a_dtype_changes_inputs_and_targets_and_leaves_labels_alone():
    labelled = Examples(X, LABELS).to(dtype=torch.float64)
    assert (labelled.x.dtype, labelled.y.dtype) == (torch.float64, torch.int64)
    targeted = Examples(X, X[:, :1]).to("cpu", torch.float16)
    assert (targeted.x.dtype, targeted.y.dtype) == (torch.float16, torch.float16)


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        (X, LABELS[:3], "x has 4 examples and y has 3"),
        (X, torch.tensor(1.0), "a single number has no rows"),
    ],
)
def test_rows_that_do_not_match_are_refused(x: torch.Tensor, y: torch.Tensor, said: str):
    with pytest.raises(PenstockError, match=said):
        Examples(x, y)
