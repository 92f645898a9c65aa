"""The plain tangent kernel of the claims against the oracle's."""

import pytest
import torch

from oracle import kernels
from penstock.lab.claims.jacobian import tangent_kernel
from penstock.lab.models.many import many_networks
from penstock.lab.models.varied import FAMILIES, varied_network


@pytest.mark.parametrize("family", FAMILIES)
def test_tangent_kernel_is_the_oracles(family: str):
    for network in many_networks(
        lambda g, dtype: varied_network(family, g, dtype), 5, architectures=1, draws=2
    ):
        x = network.inputs(3)
        torch.testing.assert_close(tangent_kernel(network.model, x), kernels.ntk(network.model, x, output=0))
