"""Gates in a row."""

import numpy as np
import torch
from torch import nn

from oracle.edges import graph_and_sites
from penstock.paths.strings import Strings


def test_a_string_is_the_product_of_its_gates():
    _, (site,) = graph_and_sites(nn.ReLU(), torch.randn(3, 4))
    strings = Strings()
    first, second = strings.gates_of(site, 2), strings.gates_of(site, 3)
    assert (first, second) == (0, 2)
    short = strings.longer(np.array([0, 0]), np.array([0, 1]))
    long = strings.longer(short, second + np.array([2, 0]))
    gates = torch.randn(5, 5, dtype=torch.float64)
    values = strings.values(gates)
    assert torch.equal(values[:, 0], torch.ones(5, dtype=torch.float64))
    assert torch.equal(values[:, short], gates[:, :2])
    assert torch.equal(values[:, long], gates[:, :2] * gates[:, [4, 2]])


def test_equal_strings_are_one():
    strings = Strings()
    one, other, same = strings.longer(np.array([0, 0, 0]), np.array([7, 3, 7])).tolist()
    assert one == same != other
