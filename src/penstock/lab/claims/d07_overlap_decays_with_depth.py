"""D Section 2, GaLU networks: the share of paths that two inputs have in common falls with depth at least as η^(d-1)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["claim"]


@dataclass(frozen=True)
class Settings:
    cases: int = 60
    """Random ReLU networks, whose gates are taken as they come."""
    examples: int = 4
    """Inputs of each."""
    seed: int = 0
    """Where widths, weights and inputs start from."""


def run(settings: Settings, run: Run) -> Evidence:
    import torch

    rows = [_case(settings, case) for case in run.progress(range(settings.cases), "random networks")]
    counted = torch.tensor([row for row in rows if row is not None], dtype=torch.float64)
    ratio, eta, depth = counted.T
    bound, printed = eta ** (depth - 1), eta**depth
    return {
        "cases": settings.cases,
        "counted": len(counted),
        "above_the_bound": int((ratio > bound * (1 + 1e-12)).sum()),
        "at_the_bound": int((ratio >= bound * (1 - 1e-12)).sum()),
        "above_with_power_d": int((ratio > printed * (1 + 1e-12)).sum()),
        "ratios": ratio,
        "bounds": bound,
    }


def _case(settings: Settings, case: int) -> tuple[float, float, float] | None:
    """The largest λ(s,s')/λ(s,s) over s ≠ s', η over the same pairs and layers 1 to d-1, and d; None where it says nothing."""
    import torch

    from penstock import capture, npf
    from penstock.lab.models.fully_connected import relu_network
    from penstock.lab.models.initialization import Gaussian
    from penstock.lab.models.random_sizes import random_widths, seeded

    generator = seeded(settings.seed, case)
    widths = random_widths(generator, hidden=(2, 6), depth=(2, 4))
    model = relu_network(widths, Gaussian(1.0), generator)
    x = torch.randn(settings.examples, widths[0], generator=generator, dtype=torch.float64)

    active = (npf(model, x) != 0).double()  # Gaussian inputs are never zero
    shared = active @ active.T / widths[0]
    common = torch.stack([tau.double() for tau in capture(model, x).overlap().values()])
    open_at_all = (common.diagonal(dim1=1, dim2=2) > 0).all(dim=0)  # a layer that is shut, τ = 0, leaves no ratio
    if open_at_all.sum() < 2:
        return None
    shared, common = shared[open_at_all][:, open_at_all], common[:, open_at_all][:, :, open_at_all]
    other = ~torch.eye(len(shared), dtype=torch.bool)
    ratio = float((shared / shared.diagonal()[:, None])[other].max())
    eta = float((common / common.diagonal(dim1=1, dim2=2)[:, :, None])[:, other].max())
    # η = 1 bounds nothing, and where no path is shared there is nothing to bound
    return (ratio, eta, float(len(widths) - 1)) if eta < 1 and ratio > 0 else None


def judge(evidence: Evidence) -> Verdict:
    holds = (
        evidence["above_the_bound"] == 0
        and evidence["counted"] >= 0.2 * evidence["cases"]
        and evidence["above_with_power_d"] > 0
    )
    ours = (
        f"{evidence['counted']} networks with 0 < η < 1: none above η^(d-1), {evidence['at_the_bound']} at it; "
        f"{evidence['above_with_power_d']} above η^d"
    )
    return Verdict.when(holds, ours, "reproduced as corrected")


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.bounds import draw_bound

    return draw_bound(
        evidence["bounds"],
        evidence["ratios"],
        bound=r"the bound $\eta^{d-1}$",
        value=r"largest $\lambda(s,s^\prime)\,/\,\lambda(s,s)$",
        what="a network",
    )


claim = Claim(
    id="D7",
    paper="D",
    place="Section 2, GaLU networks; Section 1, depth phenomena I",
    kind="exact",
    says=(
        "With η the largest share of a layer's open gates that another input has in common, two inputs share at most "
        "η^(d-1) of the paths that are open for one of them."
    ),
    printed="λ_cross/λ_self ≤ η^(d-1) for expectations, η over all pairs and layers l ∈ [d]; in the introduction ≤ μ^d",
    corrected="the power is d-1 for realised gates, with η over s' ≠ s and the layers 1 to d-1 (else η is 1)",
    scales={
        "smoke": Scale(
            settings=Settings(),
            rule=(
                "Over random ReLU networks with 0 < η < 1 and some path shared (a fifth of those drawn, or more), listed "
                "paths against packed gate counts: no ratio is above η^(d-1), and some are above η^d."
            ),
            judge=judge,
        )
    },
    run=run,
    draw=draw,
)
