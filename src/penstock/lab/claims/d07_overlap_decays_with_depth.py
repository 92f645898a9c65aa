"""D Section 2, GaLU networks: the share of paths in common falls with depth at least as η^(d-1)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.least import check_least

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from penstock.lab.models.many import Network

__all__ = ["claim"]


@dataclass(frozen=True)
class Settings:
    architectures: int = 6
    """Random widths of ReLU networks, in float64 and float32 by turns."""
    draws: int = 30
    """Random weights for each."""
    examples: int = 2
    """Inputs of each network; the more there are, the more often some layer has η = 1."""
    seed: int = 0
    """Where the random networks and inputs start from."""

    def __post_init__(self):
        check_least(self, architectures=1, draws=1, examples=2)


def run(settings: Settings, run: Run) -> Evidence:
    from functools import partial

    import torch

    from penstock.lab.models.fully_connected import random_relu_network
    from penstock.lab.models.many import many_networks

    make = partial(random_relu_network, inputs=(3, 6), hidden=(6, 8))
    networks = many_networks(make, settings.seed, settings.architectures, settings.draws)
    cases = settings.architectures * settings.draws
    rows = [_case(network, settings.examples) for network in run.progress(networks, "random networks", cases)]
    counted = torch.tensor([row for row in rows if row is not None], dtype=torch.float64).view(-1, 3)
    ratio, eta, depth = counted.T
    bound, printed = eta ** (depth - 1), eta**depth
    return {
        "cases": cases,
        "counted": len(counted),
        "above_the_bound": int((ratio > bound * (1 + 1e-12)).sum()),
        "at_the_bound": int((ratio >= bound * (1 - 1e-12)).sum()),
        "deeper_than_two": int((depth > 2).sum()),
        "above_with_power_d": int((ratio > printed * (1 + 1e-12)).sum()),
        "ratios": ratio,
        "bounds": bound,
    }


def _case(network: "Network", examples: int) -> tuple[float, float, float] | None:
    """The largest λ(s,s')/λ(s,s) over s' ≠ s, η over layers 1 to d-1, and d; None where η says nothing."""
    import torch

    from penstock import capture, npf

    x = network.inputs(examples)
    active = (npf(network.model, x) != 0).double()  # the inputs have no zeros
    shared = active @ active.T / network.shape[0]
    common = torch.stack([tau.double() for tau in capture(network.model, x).overlap().values()])
    own = common.diagonal(dim1=1, dim2=2)
    alive = (own > 0).all(dim=0)  # where a layer is shut for s, τ = 0, there is no share to speak of
    pairs = alive[:, None] & ~torch.eye(examples, dtype=torch.bool)
    if not pairs.any():
        return None
    ratio = float((shared / shared.diagonal()[:, None])[pairs].max())
    eta = float((common / own[:, :, None])[:, pairs].max())
    # η = 1 bounds nothing, and where no path is shared there is nothing to bound
    return (ratio, eta, float(len(common) + 1)) if eta < 1 and ratio > 0 else None


def judge(evidence: Evidence) -> Verdict:
    holds = (
        evidence["above_the_bound"] == 0
        and evidence["counted"] >= 0.1 * evidence["cases"]
        and evidence["deeper_than_two"] > 0
        and evidence["above_with_power_d"] > 0
    )
    ours = (
        f"{evidence['counted']} networks with 0 < η < 1: none above η^(d-1), {evidence['at_the_bound']} at "
        f"it; {evidence['above_with_power_d']} above η^d"
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
        "With η the largest share of a layer's open gates that another input has in common, two inputs "
        "share at most η^(d-1) of the paths that are open for one of them."
    ),
    printed=(
        "λ_cross/λ_self ≤ η^(d-1) for expectations, η over all pairs and layers l ∈ [d]; in the "
        "introduction ≤ μ^d"
    ),
    corrected="the power is d-1 for realised gates, with η over s' ≠ s and the layers 1 to d-1 (else η is 1)",
    scales={
        "smoke": Scale(
            settings=Settings(),
            rule=(
                "Over random ReLU networks with 0 < η < 1 and some path shared (a tenth of those drawn, "
                "some deeper than two layers), listed paths against packed gate counts: no ratio is above "
                "η^(d-1), and some are above η^d."
            ),
            judge=judge,
        )
    },
    run=run,
    draw=draw,
)
