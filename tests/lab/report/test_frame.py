"""Axes that step back."""

from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from penstock.lab.report.frame import quiet
from penstock.lab.report.ink import FAINT


def test_quiet_axes_keep_two_faint_lines_and_their_labels():
    ax = Figure().subplots()
    ax.set_xlabel("loss")
    quiet(ax)
    assert [name for name, spine in ax.spines.items() if spine.get_visible()] == ["left", "bottom"]
    assert to_hex(ax.spines["left"].get_edgecolor()) == FAINT
    assert ax.get_xlabel() == "loss"
