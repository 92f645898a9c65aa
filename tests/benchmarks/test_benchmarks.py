"""The runner finds every question, answers it at a small size, prints ratios and writes them down."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
QUESTIONS = sorted(
    path.stem
    for path in (ROOT / "benchmarks").glob("*.py")
    if path.stem not in ("__init__", "__main__", "bench")
)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_question_is_answered_with_ratios(tmp_path: Path):
    answered = run("--small", "--results", str(tmp_path))
    assert answered.returncode == 0, answered.stderr
    for name in QUESTIONS:
        answer = json.loads((tmp_path / f"{name}.json").read_text())
        assert answer["name"] == name
        assert answer["small"]
        assert f"{name}: {answer['question']}" in answered.stdout
        assert answer["figures"]
        for figure in answer["figures"]:
            assert figure["ratio"] == figure["peer"] / figure["ours"] > 0
            assert figure["what"] in answered.stdout


def test_an_unknown_question_is_wrong_usage_and_names_those_there_are():
    refused = run("speed_of_light")
    assert refused.returncode == 2
    assert "there is no benchmark called speed_of_light; there are " + ", ".join(QUESTIONS) in refused.stderr
