"""Products along all paths at once, against one path at a time."""

import numpy as np
import pytest
import torch

from networks.convolutional import SmallResNet
from networks.fully_connected import Skipping, fully_connected
from penstock.paths import products as module
from penstock.paths.asking import ask
from penstock.paths.products import along_paths


@pytest.mark.parametrize(
    ("model", "shape"),
    [(fully_connected(2, 3, 3, 1, bias=True), (2,)), (Skipping(), (3,)), (SmallResNet(), (1, 2, 2))],
    ids=["chain", "skip", "resnet"],
)
@pytest.mark.parametrize("block", [1, 1 << 22])
def test_products_along_all_paths(model, shape, block, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", block)
    hops = ask(model, shape, 0).hops()
    start = torch.randn(3, hops.roots, dtype=torch.float64)
    factors = torch.randn(3, 6, dtype=torch.float64)
    factors[:, 0] = 1
    which = np.random.default_rng(0).integers(6, size=len(hops.origin))
    which[-1] = 0
    root, followed = hops.follow(np.arange(len(hops)))
    expected = torch.stack(
        [start[:, r] * factors[:, which[row]].prod(1) for r, row in zip(root, followed, strict=True)], 1
    )
    torch.testing.assert_close(along_paths(hops, start, factors, which), expected)
