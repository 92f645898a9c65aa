"""What the tour tells of its network is what plain loops find, path by path."""

import pytest
import torch
from torch import Tensor

from oracle import kernels as slow
from oracle.paths import Chain, chain
from penstock.lab.report.tour.opened import Opened


@pytest.fixture(scope="module")
def loops(opened: Opened) -> Chain:
    return chain(list(opened.model.parameters()), None, opened.x)


def close(a: Tensor, b: Tensor) -> bool:
    return torch.allclose(a.double(), b.double(), rtol=1e-12, atol=1e-12)


def test_the_paths_are_those_of_the_figure_in_its_order(opened: Opened, loops: Chain):
    assert opened.paths == loops.nodes
    assert len(opened.paths) == 18
    assert close(opened.features, loops.npf)
    assert close(opened.values, loops.npv)


def test_the_output_is_the_inner_product(opened: Opened):
    assert close(opened.features @ opened.values, opened.output)


def test_the_path_kernel_is_gram_times_shared_paths(opened: Opened):
    assert close(opened.path_kernel, opened.gram * opened.shared_paths)


def test_the_tangent_kernel_is_that_of_the_jacobian(opened: Opened, loops: Chain):
    assert close(opened.jacobian_kernel, slow.ntk(opened.model, opened.x))
    assert close(opened.tangent_kernel, opened.jacobian_kernel)
    assert close(opened.value_kernel, slow.vtk(loops.values, list(opened.model.parameters())))


def test_another_network_can_be_opened_too():
    from networks.fully_connected import fully_connected
    from penstock.lab.report.tour.opened import open_network

    other = open_network(fully_connected(2, 3, 3, 1, seed=4), torch.randn(5, 2, dtype=torch.float64))
    assert close(other.features @ other.values, other.output)
    assert close(other.tangent_kernel, other.jacobian_kernel)
