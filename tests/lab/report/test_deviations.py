"""How far two computations are apart, as a picture."""

import numpy as np
import pytest
import torch
from matplotlib.text import Text

from penstock.lab.claims.deviation import Deviations
from penstock.lab.report.deviations import draw_deviations


def test_every_case_has_a_dot_at_its_number_and_zero_has_a_place_too():
    deviations, one = Deviations(), torch.ones(1)
    for kind in ("skips", "biases"):
        for wrong in (0, 3):
            deviations.add(kind, one * (1 + wrong * torch.finfo(torch.float32).eps), one)
    figure = draw_deviations(deviations.evidence(), 100, "off by")
    ax = figure.axes[0]
    dots = np.concatenate([np.asarray(some.get_offsets()) for some in ax.collections])
    least = ax.get_xlim()[0]
    assert sorted(dots[:, 0])[2:] == pytest.approx([3, 3], rel=1e-6)
    assert all(least < dot < 3 for dot in sorted(dots[:, 0])[:2])
    said = {text.get_text() for text in figure.findobj(Text)}
    assert {"skips", "biases", "allowed", "float32", "off by"} <= said
