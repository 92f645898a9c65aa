"""Matrices side by side."""

from matplotlib.text import Text

from penstock.lab.report.matrices import draw_product


def test_matrices_show_their_numbers_and_the_signs_between_them():
    figure = draw_product(
        {"one": [[1, -2.25]], "other": [[0.0, 0.04]], "third": [[-0.01, 7]]}, signs=("⊙", "=")
    )
    said = [text.get_text() for text in figure.findobj(Text)]
    assert {"1", "-2.2", "0", "0.0", "7", "⊙", "=", "one", "other", "third"} <= set(said)
    assert "-0.0" not in said
