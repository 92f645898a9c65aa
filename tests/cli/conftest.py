"""The command with the toy claims in its table, in this process and in one of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab.toys import toy_claims as toy_claims
from penstock.cli import main

PROGRAM = Path(__file__).parent / "with_toys.py"


@dataclass(frozen=True)
class Said:
    """What a command left: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


Command = Callable[..., Said]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of runs, where the command looks for them."""
    folder = tmp_path / "runs"
    monkeypatch.setenv("PENSTOCK_RUNS", str(folder))
    return folder


@pytest.fixture
def command(toy_claims: None, runs: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """`command("reproduce", "N2")` in this process, off a terminal."""

    def call(*arguments: str) -> Said:
        capsys.readouterr()
        code = main(arguments)
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    return call


def start(*arguments: str, runs: Path, **options: object) -> subprocess.Popen[str]:
    """The same in a process of its own."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    path = os.pathsep.join([str(PROGRAM.parents[1]), kept.get("PYTHONPATH", "")])
    environment = {**kept, "PENSTOCK_RUNS": str(runs), "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([sys.executable, str(PROGRAM), *arguments], text=True, env=environment, **pipes)  # type: ignore[call-overload]


def finish(process: subprocess.Popen[str], seconds: float = 60) -> Said:
    out, err = process.communicate(timeout=seconds)
    return Said(process.returncode, out, err)
