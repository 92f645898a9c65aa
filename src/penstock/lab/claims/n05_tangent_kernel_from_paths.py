"""N Proposition 3.1: the tangent kernel is made of path features and the kernel of path values."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.deviation import ALLOWED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["claim"]


@dataclass(frozen=True)
class Settings:
    cases: int = 6
    """Random networks of every kind: half of them in float64, half in float32."""
    examples: int = 4
    """Inputs of each."""
    seed: int = 0
    """Where the random networks and inputs start from."""


def run(settings: Settings, run: Run) -> Evidence:
    import torch

    from penstock.lab.models.varied import FAMILIES

    found = torch.zeros(4, len(FAMILIES), settings.cases, dtype=torch.float64)
    for row, family in enumerate(run.progress(FAMILIES, "networks of every kind", len(FAMILIES))):
        for case in range(settings.cases):
            found[:, row, case] = torch.tensor(_case(settings, row, family, case), dtype=torch.float64)
        run.journal.write(family=family, largest_deviation=float(found[0, row].max()))
    deviations, apart, paths, zero = found
    return {
        "deviations": deviations,
        "families": ", ".join(FAMILIES),
        "largest_deviation": float(deviations.max()),
        "networks": deviations.numel(),
        "networks_with_zero_kernel": int(zero.sum()),
        "paths": int(paths.sum()),
        "wrong_where_paths_are_taken_apart": int((apart > 100 * ALLOWED).sum()),
    }


def _case(settings: Settings, row: int, family: str, case: int) -> tuple[float, float, float, float]:
    """The deviation; the deviation with the diagonal of V alone; how many paths; whether the kernel is zero."""
    import torch

    from penstock import npf, vtk
    from penstock.lab.claims.deviation import roundings
    from penstock.lab.claims.jacobian import tangent_kernel
    from penstock.lab.models.random_sizes import seeded
    from penstock.lab.models.varied import varied_network

    generator = seeded(settings.seed, row, case)
    dtype = (torch.float64, torch.float32)[case % 2]
    model, shape = varied_network(family, generator, dtype)
    x = torch.randn(settings.examples, *shape, generator=generator, dtype=dtype)
    features, values = npf(model, x), vtk(model, input_shape=shape)
    expected = tangent_kernel(model, x)
    size = (features.abs() @ values.abs() @ features.abs().T).max()
    whole = roundings(features @ values @ features.T, expected, size)
    apart = roundings(features @ values.diag().diag() @ features.T, expected, size)
    return whole, apart, float(len(values)), float(not expected.any())


def judge(evidence: Evidence) -> Verdict:
    counted = evidence["networks"] - evidence["networks_with_zero_kernel"]
    holds = (
        evidence["largest_deviation"] <= ALLOWED
        and counted >= 0.8 * evidence["networks"]
        and evidence["wrong_where_paths_are_taken_apart"] >= 0.5 * counted
    )
    ours = (
        f"{counted} networks of {len(evidence['deviations'])} kinds, {evidence['paths']} paths: ΦᵀVΦ and the kernel of "
        f"gradients are apart by {evidence['largest_deviation']:.2g} roundings at most; V's diagonal alone is wrong in "
        f"{evidence['wrong_where_paths_are_taken_apart']}"
    )
    return Verdict.when(holds, ours)


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.deviations import draw_deviations

    return draw_deviations(
        evidence["families"].split(", "), evidence["deviations"], ALLOWED, "K − ΦᵀVΦ, in roundings"
    )


claim = Claim(
    id="N5",
    paper="N",
    place="Proposition 3.1",
    kind="exact",
    says="The tangent kernel is ΦᵀVΦ: path features on both sides of the kernel of the path values' gradients.",
    printed="K_Θ = Φᵀ V Φ",
    scales={
        "smoke": Scale(
            settings=Settings(),
            rule=(
                "Over random networks of every kind, listed features and the listed value tangent kernel give the kernel "
                f"of plain gradients to {ALLOWED} roundings of the summed terms; networks whose kernel is zero do not "
                "count and are less than a fifth; with the diagonal of V alone at least half are wrong by a hundred "
                "times the allowed."
            ),
            judge=judge,
        )
    },
    run=run,
    draw=draw,
)
