"""A bound against what it bounds."""

import numpy as np
import pytest

from penstock.lab.report.bounds import draw_bound


@pytest.mark.parametrize("bounds", [np.array([1e-5, 1.0, 100.0]), np.array([0.2, 0.5, 0.9])])
def test_every_case_has_a_dot_and_the_line_runs_between_equal_axes(bounds: np.ndarray):
    figure = draw_bound(bounds, bounds / 2, bound="the bound", value="the value", what="a network")
    ax = figure.axes[0]
    assert np.allclose(np.asarray(ax.collections[-1].get_offsets()), np.stack([bounds, bounds / 2], 1))
    assert ax.get_xlim() == ax.get_ylim()
    assert ax.get_xscale() == ax.get_yscale() == ("log" if bounds.max() > 500 * bounds.min() else "linear")
