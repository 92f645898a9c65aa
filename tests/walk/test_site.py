"""What an operation is shown of a step: the nodes of signals and the entries of what is held, in their own
shapes.
"""

import pytest
import torch
from torch import nn

from networks.inline import Inline
from oracle.edges import graph_and_sites
from penstock import PenstockError
from penstock.walk.site import Nodes, Weight, numbers


def _site(function):
    graph, (*_, site) = graph_and_sites(Inline(function), torch.randn(3, 4, dtype=torch.float64))
    return graph, site


def test_numbers_count_in_row_order():
    assert numbers((2, 3)).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert numbers(()).tolist() == 0


def test_a_signal_is_nodes_and_a_parameter_is_a_weight():
    graph, site = _site(lambda x, w: x * w[0])
    signal, held = site.operand("self"), site.operand("other")
    assert isinstance(signal, Nodes)
    assert isinstance(held, Weight)
    assert (signal.signal, signal.number.tolist()) == (graph.input, [[0, 1, 2, 3]])
    assert held.number.tolist() == [0, 1, 2, 3]
    assert not held.fixed


def test_the_output_is_numbered_for_one_example():
    _, site = _site(lambda x, w: (x @ w).reshape(-1, 2, 2).flatten(1).relu())
    assert site.shape == (1, 4)
    assert site.outputs.tolist() == [[0, 1, 2, 3]]


def test_a_number_is_a_constant():
    _, site = _site(lambda x, w: x * 3)
    three = site.operand("other")
    assert isinstance(three, Weight)
    assert three.fixed
    assert float(three.values) == 3


def test_what_no_parameter_reaches_is_a_constant_and_what_one_reaches_is_not():
    _, site = _site(lambda x, w: x * torch.arange(4).to(x))
    assert site.weight("other").fixed
    _, site = _site(lambda x, w: x * w.exp()[0])
    assert not site.weight("other").fixed


def test_a_parameter_is_called_by_its_name_in_the_model():
    _, (site,) = graph_and_sites(nn.Linear(2, 1), torch.randn(3, 2))
    assert site.weight("weight").name == "weight"
    assert site.weight("bias").name == "bias"


def test_an_argument_that_should_be_held_and_is_not_is_refused():
    _, site = _site(lambda x, w: x * x.relu())
    with pytest.raises(PenstockError, match="multiplies two signals"):
        site.weight("other")


def test_an_argument_that_should_be_a_signal_and_is_not_is_refused():
    _, site = _site(lambda x, w: x * w[0])
    with pytest.raises(PenstockError, match="put what depends on the input there"):
        site.nodes("other")


def test_a_multiple_of_a_weight_is_another_weight():
    weight = Weight("w", torch.tensor([1.0, 2.0]), numbers((2,)))
    assert weight.times(1.0) is weight
    assert weight.times(0.5).values.tolist() == [0.5, 1.0]
    assert weight.times(0.5).name != weight.name
