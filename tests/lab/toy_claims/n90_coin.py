"""The mean of draws from a fair coin tends to a half: parts, a journal, tensors, two scales and a picture."""

from dataclasses import dataclass
from typing import Any

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.least import check_least


@dataclass(frozen=True)
class Settings:
    draws: int = 20
    """Draws in each part."""
    tolerance: float = 0.5
    """How far from a half still counts."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """One part each."""

    def __post_init__(self):
        check_least(self, draws=1, seeds=1)


def run(settings: Settings, run: Run) -> Evidence:
    import torch

    def draw(seed: int) -> Evidence:
        coin = torch.randint(0, 2, (settings.draws,), generator=torch.Generator().manual_seed(seed)).double()
        for step in run.progress(range(3), f"seed {seed}"):
            run.journal.write(seed=seed, step=step, mean=coin[: step + 1].mean().item())
        return {"coin": coin, "mean": coin.mean().item()}

    parts = [run.part(f"seed-{seed}", lambda seed=seed: draw(seed)) for seed in settings.seeds]
    means = torch.tensor([part["mean"] for part in parts])
    return {
        "means": means,
        "gap": (means - 0.5).abs().max().item(),
        "tolerance": settings.tolerance,
        "law": "fair",
    }


def judge(evidence: Evidence) -> Verdict:
    return Verdict.when(evidence["gap"] <= evidence["tolerance"], f"off by {evidence['gap']:.2f}")


def draw(evidence: Evidence) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3, 2))
    figure.add_subplot().plot(evidence["means"].numpy(), "o")
    return figure


claim = Claim(
    id="N90",
    paper="N",
    place="Section 0",
    kind="limit",
    says="A fair coin shows heads half of the time.",
    printed="1/2",
    scales={
        "smoke": Scale(
            settings=Settings(), rule="Every mean is within the tolerance of a half.", judge=judge
        ),
        "laptop": Scale(settings=Settings(draws=200, tolerance=0.2), rule="The same, closer.", judge=judge),
    },
    run=run,
    draw=draw,
)
