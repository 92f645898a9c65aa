"""The drawing of N Figure 1: what is red is what is active."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from penstock import capture, list_paths, npf
from penstock.errors import PenstockError
from penstock.lab.models.toy import toy_inputs, toy_network
from penstock.lab.report.ink import ACTIVE
from penstock.lab.report.subnetworks import active_weights, draw_opened, draw_subnetworks, shared_paths

WIDTHS = (2, 3, 3, 1)


def toy_gates() -> list[torch.Tensor]:
    return list(capture(toy_network(), toy_inputs()).to_dense().values())


def panels(figure: Figure) -> dict[str, str]:
    """Letter and title of every panel."""
    titles = [ax.get_title() for ax in figure.axes if ax.get_title()]
    return {title.split(")")[0].strip("("): title for title in titles}


def test_the_panels_are_those_of_the_figure():
    """(a) the network, (b) to (g) the enumeration, (h) to (j) three inputs; and Λ."""
    titles = panels(draw_opened(WIDTHS, toy_gates()))
    assert sorted(titles) == list("abcdefghijk")
    assert "18 paths" in titles["a"]
    assert "p_{1}$ to $p_{3}" in titles["b"]
    assert "p_{16}$ to $p_{18}" in titles["g"]
    assert "8 of 18" in titles["h"]
    assert "4 of 18" in titles["j"]


def test_the_circles_hold_the_gates_and_the_red_wires_are_the_active_weights():
    gates = toy_gates()
    figure = draw_subnetworks(WIDTHS, gates)
    for example, ax in enumerate(figure.axes[:3]):
        written = [int(text.get_text()) for text in ax.texts]
        assert written == [int(gate) for layer in gates for gate in layer[example]]
        red = [line for line in ax.lines if to_hex(line.get_color()) == ACTIVE]
        assert len(red) == sum(int(weights.sum()) for weights in active_weights(WIDTHS, gates, example))


def test_active_weights_are_those_on_some_active_path():
    """Against listed paths: a weight is active where a path with a feature that is not zero passes it."""
    model, x = toy_network(), toy_inputs()
    active = npf(model, x) != 0
    for example in range(len(x)):
        weights = active_weights(WIDTHS, toy_gates(), example)
        expected = [np.zeros_like(layer) for layer in weights]
        for path, is_active in zip(list_paths(model), active[example].tolist(), strict=True):
            for layer in range(len(path) - 1):
                expected[layer][path[layer + 1], path[layer]] |= is_active
        for found, layer in zip(weights, expected, strict=True):
            assert np.array_equal(found, layer)


def test_an_open_gate_behind_a_shut_layer_carries_nothing():
    gates = [torch.tensor([[True, False]]), torch.tensor([[False, False]])]
    assert not any(weights.any() for weights in active_weights((1, 2, 2, 1), gates, 0))


@given(
    st.integers(1, 3),
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.integers(1, 4),
    st.integers(0, 999),
)
def test_shared_paths_count_what_two_examples_have_open_in_common(
    inputs: int, hidden: list[int], examples: int, seed: int
):
    generator = np.random.default_rng(seed)
    gates = [generator.random((examples, width)) > 0.4 for width in hidden]
    units = np.stack(np.meshgrid(*[np.arange(width) for width in hidden], indexing="ij"), -1).reshape(
        -1, len(hidden)
    )
    open_paths = np.stack([layer[:, units[:, k]] for k, layer in enumerate(gates)]).all(axis=0).astype(int)
    assert np.array_equal(shared_paths(gates), open_paths @ open_paths.T)


@pytest.mark.parametrize("widths", [(1, 1, 1), (3, 5, 1), (1, 4, 2, 1), (2, 2, 2, 2, 1), (4, 6, 1)])
@pytest.mark.parametrize("examples", [1, 5])
def test_any_small_network_is_drawn_without_anything_outside_the_picture(
    widths: tuple[int, ...], examples: int
):
    generator = torch.Generator().manual_seed(0)
    gates = [torch.rand(examples, width, generator=generator) > 0.4 for width in widths[1:-1]]
    for figure in (draw_opened(widths, gates), draw_subnetworks(widths, gates)):
        figure.draw_without_rendering()
        whole = figure.bbox
        for ax in figure.axes:
            box = ax.title.get_window_extent()
            assert box.x0 >= whole.x0 - 1
            assert box.y1 <= whole.y1 + 1


def test_what_cannot_be_drawn_is_refused_with_the_way_out():
    gates = toy_gates()
    with pytest.raises(PenstockError, match="one array a layer, examples × units"):
        draw_opened((2, 3, 4, 1), gates)
    with pytest.raises(PenstockError, match="one output"):
        draw_opened((2, 3, 3, 2), gates)
    with pytest.raises(PenstockError, match="same examples"):
        draw_subnetworks(WIDTHS, [gates[0], gates[1][:2]])
    with pytest.raises(PenstockError, match="draw_subnetworks"):
        draw_opened((5, 8, 3, 1), [np.ones((1, 8)), np.ones((1, 3))])
    with pytest.raises(PenstockError, match="too many to look at"):
        draw_subnetworks(WIDTHS, [np.ones((90, 3)), np.ones((90, 3))])
