"""N Proposition 3.3: the tangent kernel is never better conditioned at the bottom than the path kernel lets it be."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["claim"]

SINGULAR = 1e-9
"""An H whose least eigenvalue is a smaller share of its largest counts as singular: both sides are zero then."""


@dataclass(frozen=True)
class Settings:
    cases: int = 80
    """Random fully connected networks, with and without biases by turns."""
    examples: int = 3
    """Inputs of each."""
    seed: int = 0
    """Where widths, weights and inputs start from."""


def run(settings: Settings, run: Run) -> Evidence:
    import torch

    rows = [_case(settings, case) for case in run.progress(range(settings.cases), "random networks")]
    least_k, least_h, largest_h, largest_v, mean_v = torch.tensor(rows, dtype=torch.float64).T
    regular = least_h > SINGULAR * largest_h
    bound = least_h * largest_v
    return {
        "cases": settings.cases,
        "regular": int(regular.sum()),
        "above_the_bound": int((least_k > bound * (1 + 1e-9))[regular].sum()),
        "closest_to_the_bound": float((least_k / bound)[regular].max()) if regular.any() else 0.0,
        "above_with_the_mean_eigenvalue": int((least_k > least_h * mean_v)[regular].sum()),
        "least_of_k": least_k[regular],
        "bound": bound[regular],
    }


def _case(settings: Settings, case: int) -> tuple[float, float, float, float, float]:
    """ρ_min(K), ρ_min(H), ρ_max(H), ρ_max(V) and V's mean eigenvalue that is not zero."""
    import torch

    from penstock import npf, vtk
    from penstock.lab.claims.jacobian import tangent_kernel
    from penstock.lab.models.random_sizes import random_widths, seeded
    from penstock.lab.models.fully_connected import relu_network
    from penstock.lab.models.initialization import Gaussian

    generator = seeded(settings.seed, case)
    widths = random_widths(generator, inputs=(2, 4), hidden=(2, 4), depth=(2, 3))
    model = relu_network(widths, Gaussian(1.0), generator, bias=bool(case % 2))
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            with torch.no_grad():
                parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype))
    x = torch.randn(settings.examples, widths[0], generator=generator, dtype=torch.float64)
    features = npf(model, x)
    path_kernel = torch.linalg.eigvalsh(features @ features.T)
    values = torch.linalg.eigvalsh(vtk(model))
    kernel = torch.linalg.eigvalsh(tangent_kernel(model, x))
    some = values[values > 1e-9 * values[-1]]
    return float(kernel[0]), float(path_kernel[0]), float(path_kernel[-1]), float(values[-1]), float(some.mean())


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
        "The least eigenvalue of the tangent kernel is at most that of the path kernel times the largest of the value "
        "tangent kernel: a well conditioned K needs a well conditioned H."
    ),
    printed="ρ_min(K) ≤ ρ_min(H) ρ_max(V)",
    scales={
        "smoke": Scale(
            settings=Settings(),
            rule=(
                "Over random networks whose H is regular (a third of those drawn, or more; a singular H makes both sides "
                "zero) no K has its least eigenvalue above the bound, and the same bound with V's mean eigenvalue, zeros "
                "left out, in place of its largest fails for at least one."
            ),
            judge=judge,
        )
    },
    run=run,
    draw=draw,
)
