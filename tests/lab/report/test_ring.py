"""A circular network and its bundles, as D Figure 9 draws them."""

from itertools import product

import numpy as np
import pytest
from matplotlib.text import Text

from penstock.errors import PenstockError
from penstock.lab.report.ring import draw_bundles


def rings(positions: int, kernel: int, layers: int) -> tuple[list[list[int]], list[int]]:
    """Every path as its positions, last ones first found, and the number of its string of weights."""
    paths, bundles = [], []
    for number, offsets in enumerate(product(range(kernel), repeat=layers)):
        for last in range(positions):
            path = [last]
            for offset in reversed(offsets):
                path.insert(0, (path[0] + offset) % positions)
            paths.append(path)
            bundles.append(number)
    return paths, bundles


@pytest.mark.parametrize("size", [(3, 2, 3), (2, 1, 1), (4, 2, 4), (5, 3, 2)])
def test_every_bundle_has_a_panel_named_after_its_weights(size: tuple[int, int, int]):
    positions, kernel, layers = size
    figure = draw_bundles(positions, kernel, *rings(*size))
    titles = [ax.get_title() for ax in figure.axes[1:] if ax.get_title()]
    assert len(titles) == kernel**layers
    for title, offsets in zip(titles, product(range(1, kernel + 1), repeat=layers), strict=True):
        assert all(rf"\theta_{{{layer}}}({offset})" in title for layer, offset in enumerate(offsets, 1))
        assert f"/\\,{positions}" in title
    said = " ".join(text.get_text() for text in figure.findobj(Text))
    assert f"{layers} circular convolutions, kernel {kernel}, {positions} positions" in said


def test_too_many_bundles_are_refused():
    with pytest.raises(PenstockError, match="more than can be looked at"):
        draw_bundles(3, 2, np.zeros((99, 3)), np.arange(99))
