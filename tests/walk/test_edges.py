"""Edges: numbers that broadcast against each other, one entry an edge."""

import pytest
import torch

from networks.inline import Inline
from oracle.edges import graph_and_sites
from penstock import PenstockError
from penstock.walk.edges import Edges, product, terms
from penstock.walk.site import Nodes, Weight, numbers


def _site(function):
    _, (*_, site) = graph_and_sites(Inline(function), torch.randn(3, 4, dtype=torch.float64))
    return site


def test_rows_are_the_broadcast_numbers():
    weight = Weight("w", torch.zeros(2, 3), numbers((2, 3)))
    rows = Edges(numbers((2,))[:, None], Nodes("x", numbers((3,))), weight).rows()
    assert rows.target.tolist() == [0, 0, 0, 1, 1, 1]
    assert rows.source is not None
    assert rows.weight is not None
    assert rows.source.tolist() == [0, 1, 2, 0, 1, 2]
    assert rows.weight.tolist() == [0, 1, 2, 3, 4, 5]
    assert rows.gate is None


def test_nodes_are_made_at_a_weight_at_a_start_and_where_an_operation_says_so():
    x, weight = Nodes("x", numbers((2,))), Weight("w", torch.zeros(2), numbers((2,)))
    assert not Edges(numbers((2,)), x).makes_nodes
    assert not Edges(numbers((2,)), x, gate=numbers((2,))).makes_nodes
    assert Edges(numbers((2,)), x, weight).makes_nodes
    assert Edges(numbers((2,)), None, gate=numbers((2,))).makes_nodes
    assert Edges(numbers((2,)), x, stops=True).makes_nodes


def test_a_product_takes_its_factors_in_either_order():
    site = _site(lambda x, w: x * w[0])
    x, weight = site.nodes("self"), site.weight("other")
    for edges in (product(site, site.outputs, x, weight), product(site, site.outputs, weight, x)):
        assert edges.source is x
        assert edges.weight is weight


def test_a_product_of_two_signals_is_refused():
    site = _site(lambda x, w: x * x.relu())
    with pytest.raises(PenstockError, match=r"mul, line \d+ of inline.py multiplies two signals"):
        product(site, site.outputs, site.nodes("self"), site.nodes("other"))


def test_a_term_of_a_sum_passes_on_or_starts_or_is_nothing():
    site = _site(lambda x, w: x + w[0])
    (passed,), (started,) = terms(site, "self"), terms(site, "other")
    assert passed.source is not None
    assert passed.weight is None
    assert started.source is None
    assert not list(terms(_site(lambda x, w: x + 0.0), "other"))


def test_a_multiple_passes_a_constant():
    (taken,) = terms(_site(lambda x, w: x - x.relu()), "other", -1.0)
    assert taken.weight is not None
    assert float(taken.weight.values) == -1
