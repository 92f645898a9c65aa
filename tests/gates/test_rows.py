"""Which dimension of a layer counts the examples."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from networks.awkward import Experts, Folded, SequenceFirst
from penstock import PenstockError, capture
from penstock.gates.rows import PLAIN, Rows

LAYOUTS = [
    Rows(),
    Rows(1),
    Rows(2),
    Rows(0, True, True),
    Rows(0, True, False),
    Rows(1, True, True),
    Rows(1, True, False),
]


@given(st.sampled_from(LAYOUTS), st.integers(1, 4), st.integers(1, 3))
def test_examples_come_first_and_go_back(rows, n, times):
    shape = [2, 3, 4]
    shape[rows.dim] = n * times if rows.folded else n
    tensor = torch.arange(torch.Size(shape).numel()).reshape(shape)
    first = rows.first(tensor, n)
    assert len(first) == n
    assert torch.equal(rows.back(first), tensor)
    assert rows.fit(tuple(shape), n)


def test_in_a_folded_dimension_an_example_stands_together_or_apart():
    tensor = torch.tensor([0, 1, 2, 3, 4, 5])
    assert Rows(0, True, True).first(tensor, 3).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert Rows(0, True, False).first(tensor, 3).tolist() == [[0, 3], [1, 4], [2, 5]]


def test_a_shape_that_cannot_hold_the_examples_does_not_fit():
    assert not PLAIN.fit((4, 3), 3)
    assert not PLAIN.fit((), 1)
    assert not Rows(0, True).fit((7, 2), 3)
    assert not Rows(2).fit((3, 3), 3)


def one_by_one(model, x):
    """The slow and obvious way: every example by itself."""
    return [capture(model, row[None]) for row in x]


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (nn.Sequential(nn.Linear(4, 6), nn.ReLU()), (6, 4)),
        (nn.Sequential(nn.Conv2d(1, 5, 3), nn.ReLU(), nn.MaxPool2d(2)), (5, 1, 7, 7)),
        (SequenceFirst(), (7, 2, 3)),
        (SequenceFirst(), (4, 4, 3)),  # as many positions as examples
        (SequenceFirst(width=4), (4, 4, 3)),
        (Folded(), (4, 2, 3)),
        (Folded(), (4, 4, 3)),
        (Folded(outside=False), (4, 2, 3)),
        (Folded(outside=False), (5, 5, 3)),
    ],
)
def test_the_gates_of_an_example_are_those_it_opens_by_itself(model, shape):
    torch.manual_seed(0)
    x = torch.randn(shape)
    record = capture(model, x)
    for row, alone in enumerate(one_by_one(model, x)):
        for name in record:
            mine, its = record[name].to_dense()[row], alone[name].to_dense()
            assert torch.equal(mine.flatten(), its.flatten()), f"{name} of row {row}"


@pytest.mark.parametrize("model", [SequenceFirst(), Folded(), Folded(outside=False)])
def test_so_they_are_in_batches_and_for_one_example(model):
    x = torch.randn(7, 3, 3)
    assert capture(model, x, batch_size=3) == capture(model, x)
    assert capture(model, x, batch_size=1) == capture(model, x)


def test_a_model_made_for_one_number_of_examples_is_captured():
    class Fixed(nn.Module):
        """Takes four examples and no other number, and has four units."""

        def __init__(self, transposed):
            super().__init__()
            self.layer = nn.Linear(3, 4)
            self.transposed = transposed

        def forward(self, x):
            q = self.layer(x.view(4, 3))
            return torch.relu(q.T).T if self.transposed else torch.relu(q)

    torch.manual_seed(0)
    for transposed in (False, True):
        model, x = Fixed(transposed), torch.randn(4, 3)
        assert torch.equal(capture(model, x)["relu"].to_dense(), model.layer(x) > 0)


def test_a_relu_of_one_number_for_all_examples_is_refused():
    class Summed(nn.Module):
        def forward(self, x):
            return x * torch.relu(x.sum())

    with pytest.raises(PenstockError, match=r"the call relu is made on a tensor of shape \(\)"):
        capture(Summed(), torch.ones(6, 4))


def test_a_call_on_some_of_the_examples_is_refused():
    with pytest.raises(
        PenstockError,
        match=r"the call relu is made on a tensor of shape .*×3, in which no dimension counts the 7 examples",
    ):
        capture(Experts(), torch.randn(7, 4))


def test_a_call_on_what_all_examples_make_together_is_refused():
    class Together(nn.Module):
        def forward(self, x):
            return x + torch.relu(x.mean(0))

    with pytest.raises(PenstockError, match="no dimension counts the 6 examples"):
        capture(Together(), torch.randn(6, 4))


def test_slopes_by_channel_need_the_examples_first():
    class Video(nn.Module):
        def __init__(self):
            super().__init__()
            self.act = nn.PReLU(3)

        def forward(self, x):
            return self.act(x.flatten(0, 1)).unflatten(0, x.shape[:2])

    with pytest.raises(
        PenstockError, match="act has a slope for every channel and its examples are not in the first"
    ):
        capture(Video(), torch.randn(4, 2, 3, 5))
