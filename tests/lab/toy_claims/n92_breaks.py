"""A claim with a mistake in it."""

from dataclasses import dataclass

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict


@dataclass(frozen=True)
class Settings:
    pass


def run(settings: Settings, run: Run) -> Evidence:
    return {"ratio": 1 / 0}


claim = Claim(
    id="N92",
    paper="N",
    place="Section 0",
    kind="exact",
    says="Nothing.",
    scales={
        "smoke": Scale(settings=Settings(), rule="None.", judge=lambda evidence: Verdict.when(True, "never"))
    },
    run=run,
)
