"""A claim that the paper prints wrongly."""

from dataclasses import dataclass

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict


@dataclass(frozen=True)
class Settings:
    terms: int = 10
    """How many terms are summed."""


def run(settings: Settings, run: Run) -> Evidence:
    return {"sum": sum(range(1, settings.terms + 1)), "formula": settings.terms * (settings.terms + 1) // 2}


def judge(evidence: Evidence) -> Verdict:
    holds = evidence["sum"] == evidence["formula"]
    return Verdict.when(holds, f"the sum is {evidence['sum']}", "reproduced as corrected")


claim = Claim(
    id="N94",
    paper="N",
    place="Section 0",
    kind="exact",
    says="The first n numbers sum to a closed form.",
    printed="n(n-1)/2",
    corrected="n(n+1)/2",
    scales={"smoke": Scale(settings=Settings(), rule="The sum equals n(n+1)/2.", judge=judge)},
    run=run,
)
