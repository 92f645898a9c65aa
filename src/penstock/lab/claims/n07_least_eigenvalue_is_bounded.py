"""N Proposition 3.3: a badly conditioned path kernel makes a badly conditioned tangent kernel."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.least import check_least

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch import Tensor, nn

__all__ = ["claim"]

SINGULAR = 1e-9
"""An H whose least eigenvalue is a smaller share of its largest is singular: both sides are zero then."""


@dataclass(frozen=True)
class Settings:
    architectures: int = 6
    """Random widths, half of them with biases."""
    draws: int = 16
    """Random weights for each."""
    examples: int = 3
    """Inputs of each network."""
    seed: int = 0
    """Where the random networks and inputs start from."""

    def __post_init__(self):
        check_least(self, architectures=1, draws=1, examples=1)


def run(settings: Settings, run: Run) -> Evidence:
    import torch

    from penstock.lab.models.fully_connected import random_relu_network
    from penstock.lab.models.many import Made, many_networks

    def make(generator: torch.Generator, _: torch.dtype) -> Made:
        bias = bool(torch.randint(2, (), generator=generator))
        return random_relu_network(generator, inputs=(2, 4), hidden=(2, 4), depth=(2, 3), bias=bias)

    networks = many_networks(make, settings.seed, settings.architectures, settings.draws)
    cases = settings.architectures * settings.draws
    rows = [
        _case(network.model, network.inputs(settings.examples))
        for network in run.progress(networks, "networks", cases)
    ]
    least_k, least_h, largest_h, largest_v, mean_v = torch.tensor(rows, dtype=torch.float64).T
    regular = least_h > SINGULAR * largest_h
    bound = least_h * largest_v
    return {
        "cases": cases,
        "regular": int(regular.sum()),
        "above_the_bound": int((least_k > bound * (1 + 1e-9))[regular].sum()),
        "closest_to_the_bound": float((least_k / bound)[regular].max()) if regular.any() else 0.0,
        "above_with_the_mean_eigenvalue": int((least_k > least_h * mean_v)[regular].sum()),
        "least_of_k": least_k[regular],
        "bound": bound[regular],
    }


def _case(model: "nn.Module", x: "Tensor") -> tuple[float, float, float, float, float]:
    """ρ_min(K), ρ_min(H), ρ_max(H), ρ_max(V), and the mean of V's eigenvalues that are not zero."""
    import torch

    from penstock import npf, vtk
    from penstock.lab.claims.jacobian import tangent_kernel

    features = npf(model, x)
    path_kernel = torch.linalg.eigvalsh(features @ features.T)
    values = torch.linalg.eigvalsh(vtk(model))
    kernel = torch.linalg.eigvalsh(tangent_kernel(model, x))
    some = values[values > 1e-9 * values[-1]]
    return (
        float(kernel[0]),
        float(path_kernel[0]),
        float(path_kernel[-1]),
        float(values[-1]),
        float(some.mean()),
    )


def judge(evidence: Evidence) -> Verdict:
    holds = (
        evidence["above_the_bound"] == 0
        and evidence["regular"] >= 0.3 * evidence["cases"]
        and evidence["above_with_the_mean_eigenvalue"] > 0
    )
    ours = (
        f"{evidence['regular']} networks with a regular H: none above the bound, the closest at "
        f"{evidence['closest_to_the_bound']:.2f} of it; with V's mean eigenvalue in place of its largest "
        f"{evidence['above_with_the_mean_eigenvalue']} would be"
    )
    return Verdict.when(holds, ours)


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.bounds import draw_bound

    return draw_bound(
        evidence["bound"],
        evidence["least_of_k"],
        bound=r"the bound $\rho_{\min}(H)\,\rho_{\max}(\mathcal{V})$",
        value=r"$\rho_{\min}(K)$",
        what="a network",
    )


claim = Claim(
    id="N7",
    paper="N",
    place="Proposition 3.3",
    kind="exact",
    says=(
        "The least eigenvalue of the tangent kernel is at most that of the path kernel times the largest of "
        "the value tangent kernel: a well conditioned K needs a well conditioned H."
    ),
    printed="ρ_min(K) ≤ ρ_min(H) ρ_max(V)",
    scales={
        "smoke": Scale(
            settings=Settings(),
            rule=(
                "Over random networks whose H is regular (a third of those drawn, or more; a singular H "
                "makes both sides zero) no K has its least eigenvalue above the bound, and the same bound "
                "with V's mean eigenvalue, zeros left out, in place of its largest fails for at least one."
            ),
            judge=judge,
        )
    },
    run=run,
    draw=draw,
)
