"""Convolutions of one, two and three dimensions: the edges of a window's taps, none where a tap falls on zero
padding.
"""

import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import nn

from oracle.edges import assert_edges_are_the_module, edges_of, graph_and_sites
from penstock import list_paths

_CONVOLUTIONS = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}
_TRANSPOSED = {1: nn.ConvTranspose1d, 2: nn.ConvTranspose2d, 3: nn.ConvTranspose3d}


@st.composite
def geometries(draw, dims):
    """Kernel, stride, padding and dilation, a number for each dimension."""
    each = st.integers(1, 2 if dims > 1 else 3)
    kernel = draw(st.tuples(*[each] * dims))
    stride = draw(st.tuples(*[each] * dims))
    padding = draw(st.tuples(*[st.integers(0, 2 if dims == 1 else 1)] * dims))
    dilation = draw(st.tuples(*[st.integers(1, 2)] * dims))
    return {"kernel_size": kernel, "stride": stride, "padding": padding, "dilation": dilation}


@settings(max_examples=12)
@given(st.data())
def test_edges_are_the_convolution(data):
    dims = data.draw(st.integers(1, 3))
    geometry = data.draw(geometries(dims))
    groups, bias = data.draw(st.integers(1, 2)), data.draw(st.booleans())
    mode = data.draw(st.sampled_from(["zeros", "circular", "reflect", "replicate"]))
    size = data.draw(st.tuples(*[st.integers(2, 5 if dims == 1 else 3)] * dims))
    assume(mode == "zeros" or all(p < s for p, s in zip(geometry["padding"], size, strict=True)))
    spans = [d * (k - 1) + 1 for d, k in zip(geometry["dilation"], geometry["kernel_size"], strict=True)]
    assume(all(s + 2 * p >= span for s, p, span in zip(size, geometry["padding"], spans, strict=True)))
    convolution = _CONVOLUTIONS[dims](2, 2, **geometry, groups=groups, bias=bias, padding_mode=mode)
    model = nn.Sequential(convolution, nn.Flatten()).double()
    assert_edges_are_the_module(model, torch.randn(2, 2, *size, dtype=torch.float64))


@settings(max_examples=10)
@given(
    dims=st.integers(1, 2),
    kernel=st.integers(1, 4),
    dilation=st.integers(1, 2),
    padding=st.sampled_from(["same", "valid"]),
)
def test_padding_may_be_a_word(dims, kernel, dilation, padding):
    assume(padding == "same" or dilation * (kernel - 1) < 5)
    convolution = _CONVOLUTIONS[dims](1, 2, kernel, dilation=dilation, padding=padding)
    assert_edges_are_the_module(
        nn.Sequential(convolution, nn.Flatten()).double(), torch.randn(2, 1, *[5] * dims, dtype=torch.float64)
    )


@settings(max_examples=12)
@given(st.data())
def test_edges_are_the_transposed_convolution(data):
    dims = data.draw(st.integers(1, 3))
    geometry = data.draw(geometries(dims))
    more = [
        st.integers(0, max(s, d) - 1) for s, d in zip(geometry["stride"], geometry["dilation"], strict=True)
    ]
    added = data.draw(st.tuples(*more))
    groups, bias = data.draw(st.integers(1, 2)), data.draw(st.booleans())
    made = [s - 2 * p + d * (k - 1) + o + 1 for k, s, p, d, o in zip(*geometry.values(), added, strict=True)]
    assume(all(size > 0 for size in made))
    layer = _TRANSPOSED[dims](4, 2, **geometry, output_padding=added, groups=groups, bias=bias)
    model = nn.Sequential(layer, nn.Flatten()).double()
    assert_edges_are_the_module(model, torch.randn(2, 4, *[2] * dims, dtype=torch.float64))


def test_a_tap_on_zero_padding_is_no_edge():
    """Three positions, a kernel of 3, one zero at either end: the outermost outputs see two inputs each."""
    model = nn.Sequential(nn.Conv1d(1, 1, 3, padding=1, bias=False), nn.Flatten())
    _, (site, *_) = graph_and_sites(model, torch.randn(2, 1, 3))
    assert sorted((e.target, e.source) for e in edges_of(site)) == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
        (1, 2),
        (2, 1),
        (2, 2),
    ]


def test_a_tap_that_wraps_is_an_edge():
    model = nn.Sequential(nn.Conv1d(1, 1, 3, padding=1, bias=False, padding_mode="circular"), nn.Flatten())
    assert len(list_paths(model, input_shape=(1, 3))) == 3


def test_positions_share_their_weights():
    model = nn.Sequential(nn.Conv2d(1, 1, 2, bias=False), nn.Flatten(), nn.Linear(9, 1, bias=False))
    paths = list_paths(model, input_shape=(1, 4, 4))
    assert len(paths) == 9 * 4
    first = {path.weights[0] for path in paths}
    assert first == {paths.alphabet[k] for k in range(4)}
    assert str(paths[0].weights[0]) == "0.weight[0, 0, 0, 0]"
