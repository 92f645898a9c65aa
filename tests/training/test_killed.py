"""Killed with SIGKILL at ten random moments, a training ends with the numbers of one that never was."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the processes that are killed are forked")
def test_killed_at_ten_random_moments_it_ends_with_the_same_bits(tmp_path: Path):
    command = [sys.executable, str(Path(__file__).with_name("killed.py")), str(tmp_path)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert done.stdout.strip() == "10 kills, same"
