"""A crash at any moment leaves either no run or one that can be gone on with."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "kill_everywhere.py"


@pytest.mark.skipif(os.name != "posix", reason="the program forks")
@pytest.mark.parametrize("how", ["begin", "over", "twice"])
def test_a_run_killed_at_any_call_of_the_file_system_ends_as_if_nothing_had_been(how: str, tmp_path: Path):
    environment = {**os.environ, "PYTHONPATH": str(PROGRAM.parents[2]), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(PROGRAM), str(tmp_path / "runs"), how]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert finished.returncode == 0, finished.stderr
    found = json.loads(finished.stdout)
    assert found["wrong"] == []
    assert found["attempts"] >= 50
    assert found["verdict"] == "reproduced"
