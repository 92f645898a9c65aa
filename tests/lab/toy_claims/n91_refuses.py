"""A claim whose run is refused."""

from dataclasses import dataclass

from penstock.errors import PenstockError
from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict


@dataclass(frozen=True)
class Settings:
    pass


def run(settings: Settings, run: Run) -> Evidence:
    raise PenstockError("the data set is not there; fetch it first")


claim = Claim(
    id="N91",
    paper="N",
    place="Section 0",
    kind="exact",
    says="Nothing.",
    scales={
        "smoke": Scale(settings=Settings(), rule="None.", judge=lambda evidence: Verdict.when(True, "never"))
    },
    run=run,
)
