"""Linear layers: output i of every position reads input j through W[i, j], and a bias starts a path at each
output.
"""

from itertools import pairwise

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from oracle.edges import assert_edges_are_the_module, edges_of, graph_and_sites
from penstock import count_paths


@given(
    widths=st.lists(st.integers(1, 4), min_size=2, max_size=4),
    bias=st.booleans(),
    positions=st.sampled_from([None, 1, 3]),
)
def test_edges_are_the_layer_over_any_dimensions_before(widths, bias, positions):
    layers = [nn.Linear(a, b, bias=bias) for a, b in pairwise(widths)]
    model = nn.Sequential(*layers, nn.Flatten()).double()
    shape = (widths[0],) if positions is None else (positions, widths[0])
    assert_edges_are_the_module(model, torch.randn(3, *shape, dtype=torch.float64))


def test_an_edge_for_every_weight_and_one_for_every_bias():
    model = nn.Linear(3, 2)
    weight, bias = model.weight.tolist(), model.bias.tolist()
    graph, (site,) = graph_and_sites(model, torch.randn(2, 3))
    edges = list(edges_of(site))
    weights = [(e.target, e.source, e.weight) for e in edges if e.signal == graph.input]
    assert weights == [(i, j, weight[i][j]) for i in range(2) for j in range(3)]
    assert [(e.target, e.weight) for e in edges if e.signal is None] == [(i, bias[i]) for i in range(2)]


def test_a_zero_weight_is_a_weight():
    model = nn.Linear(3, 1, bias=False)
    nn.init.zeros_(model.weight)
    assert count_paths(model) == 3
