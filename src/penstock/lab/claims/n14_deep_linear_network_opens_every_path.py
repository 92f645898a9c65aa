"""N Section 7: a deep linear network has all gates at 1, so all entries of Λ are one number."""

from dataclasses import dataclass
from math import prod
from typing import Any

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.deviation import ALLOWED
from penstock.lab.claims.least import check_least

__all__ = ["claim"]


@dataclass(frozen=True)
class Settings:
    cases: int = 6
    """Random widths; every second network has one width w throughout, as the paper has it."""
    examples: int = 5
    """Inputs of each."""
    seed: int = 0
    """Where widths, weights and inputs start from."""

    def __post_init__(self):
        check_least(self, cases=1, examples=1)


def run(settings: Settings, run: Run) -> Evidence:
    cases = [_case(settings, case) for case in run.progress(range(settings.cases), "deep linear networks")]
    counted = [one for one in cases if one["every"] > 1]
    return {
        "cases": len(cases),
        "counted": len(counted),
        "entries": sum(settings.examples**2 for _ in counted),
        "entries_that_differ": sum(one["differ"] for one in counted),
        "kernel_is_off_by": max((one["kernel"] for one in counted), default=0.0),
        "relu_entries_that_differ": sum(one["relu"] for one in counted),
        "smallest": min((one["every"] for one in counted), default=1),
        "largest": max((one["every"] for one in counted), default=1),
    }


def _case(settings: Settings, case: int) -> dict[str, Any]:
    import torch

    from penstock import npf
    from penstock.lab.claims.deviation import roundings
    from penstock.lab.models.fully_connected import deep_linear_network, relu_network
    from penstock.lab.models.initialization import Gaussian
    from penstock.lab.models.random_sizes import random_widths, seeded

    generator = seeded(settings.seed, case)
    dtype = (torch.float64, torch.float32)[case // 2 % 2]
    widths = random_widths(generator, hidden=(1, 4), depth=(2, 5))
    if case % 2 == 0:
        widths = (widths[0], *[widths[1]] * (len(widths) - 2), 1)
    every = prod(widths[1:-1])
    x = torch.randn(settings.examples, widths[0], generator=generator, dtype=dtype)
    linear = npf(deep_linear_network(widths, Gaussian(1.0), seeded(settings.seed, case, 1), dtype=dtype), x)
    relu = npf(relu_network(widths, Gaussian(1.0), seeded(settings.seed, case, 1), dtype=dtype), x)
    shared, shared_by_relu = (
        ((phi != 0).double() @ (phi != 0).double().T / widths[0]) for phi in (linear, relu)
    )
    return {
        "every": every,
        "differ": int((shared != every).sum()),
        "relu": int((shared_by_relu != every).sum()),
        "kernel": roundings(every * (x @ x.T), linear @ linear.T),
    }


def judge(evidence: Evidence) -> Verdict:
    holds = (
        evidence["entries_that_differ"] == 0
        and evidence["kernel_is_off_by"] <= ALLOWED
        and evidence["counted"] >= 0.5 * evidence["cases"]
        and evidence["relu_entries_that_differ"] >= 0.5 * evidence["entries"]
    )
    ours = (
        f"{evidence['counted']} deep linear networks with w^(d-1) from {evidence['smallest']:.0f} to "
        f"{evidence['largest']:.0f}: Λ is that in all {evidence['entries']} entries; with ReLUs and the "
        f"same weights {evidence['relu_entries_that_differ']} differ"
    )
    return Verdict.when(holds, ours)


claim = Claim(
    id="N14",
    paper="N",
    place="Section 7",
    kind="exact",
    says=(
        "In a deep linear network every path is open for every input: Λ is w^(d-1) in every entry, and H is "
        "that times Σ."
    ),
    printed="Λ is a matrix whose entries are w^(d-1)",
    scales={
        "smoke": Scale(
            settings=Settings(),
            rule=(
                "Over deep linear networks with w^(d-1) above 1 (at least half of those drawn) Λ by "
                "listing is w^(d-1), or the product of the hidden widths, in every entry, and H differs "
                f"from that times Σ by {ALLOWED} roundings at most; with ReLUs put back at least half of "
                "the entries differ."
            ),
            judge=judge,
        )
    },
    run=run,
)
