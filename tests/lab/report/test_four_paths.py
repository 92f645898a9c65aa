"""N Figure 4 and Table 3, counted."""

import torch
from matplotlib.text import Text

from penstock.lab.report.four_paths import draw_four_paths


def test_the_picture_holds_the_counts_and_the_formula_beside_the_enumeration():
    evidence = {
        "follows": torch.tensor([[11, 12, 0, 0], [0, 0, 13, 14], [15, 16, 0, 0], [0, 0, 17, 1800]]),
        "survive": 4321,
        "sigma": 0.7,
        "same_layer_enumerated": 0.25,
        "same_layer_printed": 0.125,
        "other_layer_enumerated": 0.25,
        "other_layer_printed": 0.25,
    }
    figure = draw_four_paths(evidence)
    said = [text.get_text() for text in figure.findobj(Text)]
    assert {"11", "14", "1,800", "0.2500", "0.1250"} <= set(said)
    assert any("4,321" in word for word in said)
    assert [ax.get_title().split(")")[0] for ax in figure.axes[:4]] == ["(a", "(b", "(c", "(d"]
