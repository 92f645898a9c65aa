"""Decoupled networks on a GPU give what they give on the CPU."""

import pytest
import torch

from decoupled.on_cuda import CHECKS

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device"),
]


@pytest.mark.parametrize("check", CHECKS)
def test_it_gives_what_the_cpu_gives(check: str):
    CHECKS[check]()
