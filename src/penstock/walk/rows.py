"""The few rows on which a graph is compared with its module, and the company they are put in."""

import torch
from torch import Tensor

__all__ = ["in_other_company", "taken_back", "three_rows"]


def three_rows(x: Tensor) -> Tensor:
    """The first three examples if no two are equal; otherwise the first one and two variations of it.

    Equal rows would not show that a row depends on its neighbors. A variation lies between the row and
    zero, so that a module which takes logarithms or roots can still be run on it.
    """
    rows = x[:3].detach()
    if len(rows) == 3 and not any(torch.equal(rows[i], rows[j]) for i, j in ((0, 1), (0, 2), (1, 2))):
        return rows.clone()
    first = rows[:1]
    share = torch.rand(2, *rows.shape[1:], generator=torch.Generator().manual_seed(0)).to(rows)
    return torch.cat([first, torch.where((first == 0).all(), share, first * (1 + share) / 2)])


def in_other_company(rows: Tensor) -> Tensor:
    """The rows in reverse, the last one twice: each stands elsewhere or beside others, among more rows."""
    return torch.cat([rows.flip(0), rows[-1:]])


def taken_back(results: Tensor) -> Tensor:
    """From the results of rows in other company, those of the rows themselves, in their own order."""
    return results[:-1].flip(0)
