"""A claim that takes as long as it is told: parts that can be interrupted, and no torch."""

import time
from dataclasses import dataclass

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict


@dataclass(frozen=True)
class Settings:
    parts: int = 3
    """How many parts."""
    pause: float = 0.0
    """Seconds that each step takes."""


def run(settings: Settings, run: Run) -> Evidence:
    def count(part: int) -> Evidence:
        for step in run.progress(range(10), f"part {part}"):
            run.journal.write(step=step)
            time.sleep(settings.pause)
        return {"steps": 10}

    parts = [run.part(f"part-{part}", lambda part=part: count(part)) for part in range(settings.parts)]
    return {"steps": sum(part["steps"] for part in parts)}


def judge(evidence: Evidence) -> Verdict:
    return Verdict.when(evidence["steps"] > 0, f"{evidence['steps']} steps")


claim = Claim(
    id="N93",
    paper="N",
    place="Section 0",
    kind="figure",
    says="Steps follow upon steps.",
    scales={"smoke": Scale(settings=Settings(), rule="There is a step.", judge=judge)},
    run=run,
)
