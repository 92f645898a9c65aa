"""Hops: all paths from their roots, and single ones by their rank."""

import numpy as np
import pytest
import torch
from torch import nn

from networks.convolutional import Concatenating, SmallResNet, small_images
from networks.fully_connected import Skipping, fully_connected
from penstock.paths.asking import ask


@pytest.fixture(
    params=[
        (fully_connected(2, 3, 3, 1), (2,)),
        (fully_connected(3, 2, 2, bias=True), (3,)),
        (Skipping(), (3,)),
        (SmallResNet(), (1, 2, 2)),
        (Concatenating(), (1, 3)),
        (small_images(nn.MaxPool2d(2), width=1), (2, 4, 4)),
    ],
    ids=["chain", "biases", "skip", "resnet", "concatenation", "images"],
    scope="module",
)
def hops(request):
    model, shape = request.param
    return ask(model, shape, 0).hops()


def _in_loops(hops):
    """Every path's hops, one after the other, by a walk along the hops."""
    end = len(hops.unit) - 1
    found = []

    def walk(node, passed):
        if node == end:
            found.append(passed)
            return
        for hop in np.flatnonzero(hops.origin == node):
            walk(hops.target[hop], [*passed, int(hop)])

    for root in range(hops.roots):
        walk(root, [])
    return found


def test_paths_are_followed_by_their_rank(hops):
    expected = _in_loops(hops)
    assert len(hops) == len(expected)
    root, followed = hops.follow(np.arange(len(hops)))
    last = len(hops.origin) - 1
    assert [[int(hop) for hop in row if hop != last] for row in followed] == expected
    assert root.tolist() == [int(hops.origin[passed[0]]) for passed in expected]


def test_any_ranks_can_be_followed_in_any_order(hops):
    _, every = hops.follow(np.arange(len(hops)))
    ranks = np.random.default_rng(0).integers(len(hops), size=50)
    _, some = hops.follow(ranks)
    assert np.array_equal(some, every[ranks][:, : some.shape[1]])


def test_levels_grow_all_paths_in_the_same_order(hops):
    _, every = hops.follow(np.arange(len(hops)))
    rows = None
    for depth, (earlier, hop) in enumerate(hops.levels()):
        rows = hop[:, None] if rows is None else np.column_stack([rows[earlier], hop])
        assert rows.shape[1] == depth + 1
    assert rows is not None
    assert np.array_equal(rows, every)


def test_an_output_that_nothing_reaches_has_no_paths():
    class Padded(nn.Module):
        def forward(self, x):
            return torch.nn.functional.pad(x, (1, 0))

    hops = ask(Padded(), (2,), 0).hops()
    assert len(hops) == 0
    assert hops.follow(np.arange(0))[1].shape == (0, 0)
    assert not list(hops.levels())
