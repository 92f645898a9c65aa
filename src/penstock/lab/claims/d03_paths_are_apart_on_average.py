"""D Lemma 2.2: over ±σ weights the gradients of two paths are orthogonal on average, of one length always."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.least import check_least, check_sigma, widths_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["claim"]


@dataclass(frozen=True)
class Settings:
    networks: tuple[str, ...] = ("3-1-1", "2-2-1", "2-1-2-1", "1-2-2-1", "1-1-2-1-1")
    """Widths of the networks, inputs first; all choices of their weights' signs are tried."""
    sigma: float = 0.5
    """The size of every weight; a power of two makes every sum exact."""

    def __post_init__(self):
        check_least(self, networks=1)
        check_sigma(self.sigma)
        for network in self.networks:
            widths_of(network)


def run(settings: Settings, run: Run) -> Evidence:
    found = []
    for name in settings.networks:
        one = _network(widths_of(name), settings.sigma, run)
        run.journal.write(
            network=name, draws=one["draws"], off_diagonal=one["off_diagonal"], diagonal=one["diagonal"]
        )
        found.append(one)
    shown = max(found, key=lambda one: len(one["mean"]))
    return {
        "networks": len(found),
        "draws": sum(one["draws"] for one in found),
        "pairs": sum(len(one["mean"]) * (len(one["mean"]) - 1) for one in found),
        "largest_mean_of_two_paths": max(one["off_diagonal"] for one in found),
        "single_draws_of_two_paths_reach_at_least": min(one["single"] for one in found),
        "largest_deviation_of_one_path": max(one["diagonal"] for one in found),
        "without_d_off_by_at_least": min(one["without_d"] for one in found),
        "shown_mean": shown["mean"],
        "shown_draw": shown["draw"],
    }


def _network(widths: tuple[int, ...], sigma: float, run: Run) -> dict[str, Any]:
    from itertools import product

    import torch

    from penstock import vtk
    from penstock.lab.models.fully_connected import relu_network
    from penstock.lab.models.initialization import Bernoulli
    from penstock.lab.models.random_sizes import seeded

    model = relu_network(widths, Bernoulli(sigma), seeded(0))
    weights = list(model.parameters())
    depth = len(weights)
    length = depth * sigma ** (2 * (depth - 1))
    draws = list(product((-sigma, sigma), repeat=sum(weight.numel() for weight in weights)))
    total: Any = 0
    diagonal = single = 0.0
    kernel = shown = vtk(model)
    apart = ~torch.eye(len(kernel), dtype=torch.bool)
    for number, draw in enumerate(run.progress(draws, "choices of signs", len(draws))):
        signs = torch.tensor(draw, dtype=torch.float64).split([weight.numel() for weight in weights])
        with torch.no_grad():
            for weight, values in zip(weights, signs, strict=True):
                weight.copy_(values.view_as(weight))
        kernel = vtk(model)
        total = total + kernel
        shown = kernel if number == len(draws) // 3 else shown
        diagonal = max(diagonal, float((kernel.diagonal() - length).abs().max()) / length)
        single = max(single, float(kernel[apart].abs().max()) / length)
    mean = total / len(draws)
    return {
        "draws": len(draws),
        "mean": mean / length,
        "draw": shown / length,
        "diagonal": diagonal,
        "off_diagonal": float(mean[apart].abs().max()) / length,
        "single": single,
        "without_d": float((mean.diagonal() - length / depth).abs().min()) / length,
    }


def judge(evidence: Evidence) -> Verdict:
    holds = (
        evidence["largest_mean_of_two_paths"] <= 1e-14
        and evidence["largest_deviation_of_one_path"] <= 1e-14
        and evidence["single_draws_of_two_paths_reach_at_least"] > 0.1
        and evidence["without_d_off_by_at_least"] > 0.1
    )
    ours = (
        f"{evidence['draws']} choices of signs in {evidence['networks']} networks: the mean of ⟨ϕ_p1, ϕ_p2⟩ "
        f"is at most {evidence['largest_mean_of_two_paths']:.1g} (single draws reach "
        f"{evidence['single_draws_of_two_paths_reach_at_least']:.2f} of ⟨ϕ_p, ϕ_p⟩), and ⟨ϕ_p, ϕ_p⟩ is "
        f"dσ^(2(d-1)) in every draw, off by {evidence['largest_deviation_of_one_path']:.1g} at most"
    )
    return Verdict.when(holds, ours)


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.matrices import draw_product

    return draw_product(
        {
            r"$\langle\varphi_p, \varphi_{p^\prime}\rangle$ in one draw": evidence["shown_draw"],
            "the mean over all draws": evidence["shown_mean"],
        },
        signs=("→",),
    )


claim = Claim(
    id="D3",
    paper="D",
    place="Lemma 2.2",
    kind="exact/limit",
    says=(
        "Over weights ±σ the gradients of two different paths have inner product zero on average; that of a "
        "path with itself is dσ^(2(d-1)) in every draw."
    ),
    printed="E⟨ϕ_p1, ϕ_p2⟩ = 0, ⟨ϕ_p, ϕ_p⟩ = dσ^(2(d-1))",
    scales={
        "smoke": Scale(
            settings=Settings(),
            rule=(
                "Over all choices of signs of tiny networks, by the listed value tangent kernel: every mean "
                "of two paths is zero to 1e-14 while single draws exceed a tenth of the diagonal; every "
                "draw's diagonal is dσ^(2(d-1)) to 1e-14, and the same without the factor d is off by more "
                "than a tenth."
            ),
            judge=judge,
        )
    },
    run=run,
    draw=draw,
)
