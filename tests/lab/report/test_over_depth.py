"""Measured numbers against depth."""

import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer

from penstock.lab.report.over_depth import Dots, Line, Panel, draw_over_depth


@pytest.mark.parametrize("logarithmic", [False, True])
def test_dots_lines_and_depths_have_their_places(logarithmic: bool):
    marks = [
        Line([2, 4, 12], [0.5, 0.25, 0.1], "black", "a formula"),
        Dots([2, 12], [0.6, 0.2], [0.1, 0.05], "blue", "measured", aside=0.1),
        Dots([], [], [], "gray", "said in the legend alone"),
    ]
    figure = draw_over_depth([Panel("something", marks, logarithmic), Panel("else", marks, level=1.0)])
    ax, other = figure.axes
    assert [label.get_text() for label in ax.get_xticklabels()] == ["2", "4", "12"]
    line = ax.lines[0]
    assert np.allclose(np.asarray(line.get_xdata()), [0, 1, 2])
    dots = next(each for each in ax.containers if isinstance(each, ErrorbarContainer))
    assert np.allclose(np.asarray(dots.lines[0].get_xdata()), [0.1, 2.1])
    assert ax.get_yscale() == ("log" if logarithmic else "linear")
    legend = other.get_legend()
    assert legend is not None
    said = {text.get_text() for text in legend.get_texts()}
    assert said == {"a formula", "measured", "said in the legend alone"}
    assert any(np.array_equal(np.asarray(each.get_ydata()), [1.0, 1.0]) for each in other.lines)
