"""One process at a time, and nobody waits for the dead."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.lab.runs.lock import exclusive

HOLD = """
import sys, time
from pathlib import Path
from penstock.lab.runs.lock import exclusive
with exclusive(Path(sys.argv[1]), print):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def holder(path: Path, seconds: float) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_the_second_is_told_once_who_is_first_and_waits(tmp_path: Path):
    path = tmp_path / "lock"
    with holder(path, 1.0) as first:
        told: list[str] = []
        with exclusive(path, told.append):
            assert first.poll() is not None or first.wait(5) == 0
        assert told == [str(first.pid)]


def test_a_lock_whose_holder_was_killed_is_free(tmp_path: Path):
    path = tmp_path / "lock"
    with holder(path, 60) as first:
        first.kill()
        first.wait()
        told: list[str] = []
        with exclusive(path, told.append):
            assert told == []


def test_a_lock_leaves_no_file(tmp_path: Path):
    for _ in range(2):
        with exclusive(tmp_path / "lock", print):
            assert (tmp_path / "lock").read_text() == str(os.getpid())
        assert list(tmp_path.iterdir()) == []


def test_many_processes_take_turns(tmp_path: Path):
    code = """
import sys
from pathlib import Path
from penstock.lab.runs.lock import exclusive
root = Path(sys.argv[1])
for _ in range(20):
    with exclusive(root / "lock", lambda holder: None):
        number = int((root / "number").read_text())
        (root / "number").write_text(str(number + 1))
"""
    (tmp_path / "number").write_text("0")
    crowd = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(4)]
    assert [each.wait(60) for each in crowd] == [0, 0, 0, 0]
    assert (tmp_path / "number").read_text() == "80"


def test_an_error_inside_releases_the_lock(tmp_path: Path):
    with pytest.raises(ZeroDivisionError), exclusive(tmp_path / "lock", print):
        raise ZeroDivisionError
    with exclusive(tmp_path / "lock", print):
        pass
