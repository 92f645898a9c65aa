"""Circular convolutional networks as D Section 4 has them."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import PenstockError
from penstock.lab.models.circular import CircularNetwork
from penstock.lab.models.initialization import Gaussian
from penstock.lab.models.random_sizes import seeded


@given(st.integers(1, 5), st.integers(1, 3), st.data(), st.integers(0, 2**31))
def test_each_position_reads_those_that_follow_it_round_the_ring(
    positions: int, layers: int, data: st.DataObject, seed: int
):
    kernel = data.draw(st.integers(1, positions))
    model = CircularNetwork(positions, kernel, layers, Gaussian(1.0), seeded(seed))
    x = torch.randn(positions, dtype=torch.float64, generator=seeded(seed, 1))
    z = x.tolist()
    for weight in model.parameters():
        w = weight.flatten().tolist()
        z = [max(0.0, sum(w[k] * z[(i + k) % positions] for k in range(kernel))) for i in range(positions)]
    assert model(x[None, None]).item() == pytest.approx(sum(z) / positions, abs=1e-12)


@given(st.integers(0, 4), st.integers(0, 2**31))
def test_the_output_does_not_change_when_the_input_is_turned(by: int, seed: int):
    model = CircularNetwork(4, 2, 3, Gaussian(1.0), seeded(seed))
    x = torch.randn(2, 1, 4, dtype=torch.float64, generator=seeded(seed, 1))
    torch.testing.assert_close(model(x.roll(by, dims=-1)), model(x))


def test_a_kernel_wider_than_the_ring_is_refused():
    with pytest.raises(PenstockError, match="a kernel of 4 does not go round 3 positions; give 1 to 3"):
        CircularNetwork(3, 4, 1, Gaussian(1.0), seeded(0))
    with pytest.raises(PenstockError, match="convolutions=0"):
        CircularNetwork(3, 2, 0, Gaussian(1.0), seeded(0))
