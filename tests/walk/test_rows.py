"""Three rows to compare on: distinct ones, and each in other company than before."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from penstock.walk.rows import in_other_company, taken_back, three_rows


@given(st.integers(1, 6), st.integers(1, 5), st.sampled_from(["random", "equal", "zero"]))
def test_there_are_three_rows_and_no_two_are_equal(n: int, width: int, kind: str):
    x = {
        "random": torch.randn(n, width),
        "equal": torch.full((n, width), 2.0),
        "zero": torch.zeros(n, width),
    }[kind]
    rows = three_rows(x)
    assert rows.shape == (3, width)
    assert len({tuple(row.tolist()) for row in rows}) == 3
    assert torch.equal(rows[0], x[0])


def test_given_rows_are_taken_as_they_are():
    x = torch.randn(5, 2)
    rows = three_rows(x)
    assert torch.equal(rows, x[:3])
    rows.zero_()
    assert x[:3].abs().sum() > 0, "they are a copy"


def test_a_variation_lies_between_the_row_and_zero():
    x = torch.tensor([[2.0, -3.0, 0.0, 0.5]])
    rows = three_rows(x)
    assert (rows * x >= 0).all()
    assert (rows.abs() <= x.abs()).all()


def test_the_rows_can_be_taken_back_from_their_other_company():
    rows = torch.arange(3.0)[:, None]
    company = in_other_company(rows)
    assert company[:, 0].tolist() == [2, 1, 0, 2]
    assert torch.equal(taken_back(company), rows)


def test_every_row_has_other_neighbors_or_another_number_of_rows_beside_it():
    before, after = [0, 1, 2], in_other_company(torch.arange(3)[:, None])[:, 0].tolist()
    assert len(after) != len(before)
    assert sum(after) / len(after) != sum(before) / len(before), "a mean over the batch is another one"

    def neighbor(rows: list[int], row: int, shift: int) -> int:
        return rows[(rows.index(row) + shift) % len(rows)]

    for shift in (-1, 1):
        assert any(neighbor(after, row, shift) != neighbor(before, row, shift) for row in before)
