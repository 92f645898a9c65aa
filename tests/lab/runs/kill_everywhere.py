"""Runs a claim and kills it at its k-th call of the file system, for every k; then runs it again and looks.

Called as a program, since it forks: `python kill_everywhere.py ROOT begin|over|twice`. A call of `os.write`
is killed halfway, with half of its bytes written; every other call just before it happens. Prints what went
wrong, as JSON."""

import json
import os
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch  # noqa: F401  (once, here, and not in every child)

from lab.toys import coin_claim, done
from penstock.lab.runs.inventory import records
from penstock.lab.runs.journal import read_journal

CALLS = ("open", "write", "fsync", "replace", "rename", "mkdir", "unlink", "rmdir", "ftruncate", "close")
KILLED = 77
CLAIM = coin_claim()


class Killer:
    """Stands in front of every call that changes or reaches a file, counts, and kills at the k-th."""

    def __init__(self, kill_at: int | None):
        self.kill_at = kill_at
        self.calls = 0
        for name in CALLS:
            setattr(os, name, self.guard(name, getattr(os, name)))

    def guard(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(*arguments: Any, **named: Any) -> Any:
            self.calls += 1
            if self.calls == self.kill_at:
                if name == "write":
                    real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                os._exit(KILLED)
            return real(*arguments, **named)

        return guarded


def in_child(work: Callable[[], Any]) -> tuple[int, Any]:
    """The child's exit code, and what `work` gave there."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            answer = json.dumps(work()).encode()
        except Exception as error:
            answer = json.dumps(f"{type(error).__name__}: {error}").encode()
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, json.loads(answer) if answer else None


def run(root: Path, fresh: bool, kill_at: int | None = None) -> tuple[int, Any]:
    def work() -> dict[str, Any]:
        killer = Killer(kill_at)
        outcome = done(CLAIM, root, fresh=fresh, seeds=(0, 1))
        return {
            "calls": killer.calls,
            "verdict": outcome.verdict.word,
            "ours": outcome.verdict.ours,
            "means": outcome.evidence["means"].tolist(),
            "journal": [(line["seed"], line["step"]) for line in read_journal(outcome.folder.journal)],
        }

    return in_child(work)


def look(root: Path) -> list[str]:
    """Whatever is listed after a crash is finished or can be gone on with."""
    return [each.state for each in records(root) if each.state not in ("finished", "unfinished")]


def leftovers(root: Path) -> list[str]:
    return [path.name for path in root.rglob(".*")]


def attempt(root: Path, kills: list[int], done_before: Path | None, expected: dict[str, Any]) -> list[str]:
    """Kill at each of `kills` in turn, then run to the end; what is not as it should be."""
    shutil.rmtree(root, ignore_errors=True)
    wrong: list[str] = []
    if done_before:
        shutil.copytree(done_before, root)
    for turn, kill_at in enumerate(kills):
        code, answer = run(root, fresh=bool(done_before) and turn == 0, kill_at=kill_at)
        if code != KILLED and len(kills) == 1:
            wrong.append(f"was not killed: {answer}")
        wrong += look(root)
        visible = [each.state for each in records(root)]
        if done_before and visible != ["finished"] and not list(root.glob(".*.over/verdict.json")):
            wrong.append(f"the old run is lost before the new one is there: {visible}")
    _, answer = run(root, fresh=False)
    if not isinstance(answer, dict) or {**answer, "calls": 0} != {**expected, "calls": 0}:
        wrong.append(f"ran again to {answer}")
    return [f"killed at {kills}: {each}" for each in [*wrong, *leftovers(root)]]


def main(root: Path, how: str) -> None:
    done_before = root.with_name("done")
    for folder in (root, done_before):
        shutil.rmtree(folder, ignore_errors=True)
    _, begun = run(done_before, fresh=False)
    shutil.copytree(done_before, root)
    _, over = run(root, fresh=True)
    if how == "twice":
        pick = random.Random(0)
        calls = range(1, over["calls"] + 1)
        kills = [[pick.choice(calls), pick.choice(calls)] for _ in range(50)]
        cases = [(several, pick.choice([None, done_before])) for several in kills]
    else:
        before, calls = (done_before, over["calls"]) if how == "over" else (None, begun["calls"])
        cases = [([k], before) for k in range(1, calls + 1)]
    wrong = [each for kills, before in cases for each in attempt(root, kills, before, begun)]
    print(json.dumps({"attempts": len(cases), "verdict": begun["verdict"], "wrong": wrong}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
