"""From a graph to hops: what lies between two nodes is drawn together."""

import torch
from torch import nn

from networks.fully_connected import Skipping
from networks.inline import Inline
from penstock.paths.asking import ask
from penstock.paths.layer import END, ONE


def _named(hops):
    """Hops as (layer, unit) → (layer, unit)."""

    def node(number):
        unit = int(hops.unit[number])
        return "1" if unit == ONE else "end" if unit == END else hops.layers[hops.layer[number]].node(unit)

    return [(node(a), node(b)) for a, b in zip(hops.origin, hops.target, strict=True)]


def test_gates_reshapes_and_sums_lie_between_nodes():
    model = nn.Sequential(
        nn.Linear(1, 1), nn.ReLU(), nn.Unflatten(1, (1, 1)), nn.Flatten(), nn.LeakyReLU(), nn.Linear(1, 1)
    )
    assert _named(ask(model, None, 0).hops()) == [
        ("x[0]", "0[0]"),
        ("1", "0[0]"),
        ("1", "5[0]"),
        ("0[0]", "5[0]"),
        ("5[0]", "end"),
        ("end", "end"),
    ]


def test_a_skip_reaches_further_than_the_layer_it_skips():
    hops = _named(ask(Skipping(inputs=1, width=1), None, 0).hops())
    assert ("first[0]", "middle[0]") in hops
    assert ("first[0]", "last[0]") in hops
    assert hops.index(("first[0]", "middle[0]")) < hops.index(("first[0]", "last[0]"))


def test_two_ways_with_different_gates_are_two_hops():
    hops = ask(Inline(lambda x, w: x.relu() + x), (4,), 0).hops()
    assert _named(hops)[:2] == [("x[0]", "end"), ("x[0]", "end")]
    assert len(set(hops.string[:2].tolist())) == 2


def test_hops_that_lead_nowhere_are_left_out():
    model = nn.Sequential(nn.Linear(2, 3, bias=False), nn.ReLU(), nn.Linear(3, 5, bias=False))
    hops = ask(model, None, 4).hops()
    assert len(hops.origin) == 2 * 3 + 3 + 1 + 1
    assert ("0[0]", "2[0]") not in _named(hops)


def test_a_path_that_ends_comes_before_those_that_go_on():
    hops = ask(Inline(lambda x, w: x + x @ w), (4,), 0).hops()
    assert [name for name in _named(hops) if name[0] == "x[0]"] == [("x[0]", "end"), ("x[0]", "matmul[0]")]


def test_strings_say_which_gates_lie_between():
    model = Inline(lambda x, w: (x @ w).relu().relu() @ w)
    hops = ask(model, (4,), 0).hops()
    gates = torch.zeros(1, 8, dtype=torch.float64)
    gates[0, [0, 4, 1]] = 1
    values = hops.strings.values(gates)[0][torch.from_numpy(hops.string)]
    between = {name: float(value) for name, value in zip(_named(hops), values, strict=True)}
    assert between["matmul[0]", "matmul:2[0]"] == 1
    assert between["matmul[1]", "matmul:2[0]"] == 0
