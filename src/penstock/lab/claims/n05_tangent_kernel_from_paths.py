"""N Proposition 3.1: the tangent kernel is made of path features and the kernel of path values."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.deviation import ALLOWED
from penstock.lab.claims.least import check_least

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["claim"]


@dataclass(frozen=True)
class Settings:
    architectures: int = 2
    """Random architectures of every kind, in float64 and float32 by turns."""
    draws: int = 8
    """Random weights for each."""
    examples: int = 4
    """Inputs of each network."""
    seed: int = 0
    """Where the random networks and inputs start from."""

    def __post_init__(self):
        check_least(self, architectures=1, draws=1, examples=1)


def run(settings: Settings, run: Run) -> Evidence:
    from functools import partial

    from penstock import npf, vtk
    from penstock.lab.claims.deviation import Deviations, roundings
    from penstock.lab.claims.jacobian import tangent_kernel
    from penstock.lab.models.many import many_networks
    from penstock.lab.models.varied import FAMILIES, varied_network

    deviations = Deviations()
    paths = zero = wrong = 0
    for row, family in enumerate(run.progress(FAMILIES, "networks of every kind", len(FAMILIES))):
        make = partial(varied_network, family)
        for network in many_networks(make, settings.seed + row, settings.architectures, settings.draws):
            x = network.inputs(settings.examples)
            features, values = npf(network.model, x), vtk(network.model, input_shape=network.shape)
            kernel = tangent_kernel(network.model, x)
            size = (features.abs() @ values.abs() @ features.abs().T).max()
            deviations.add(family, features @ values @ features.T, kernel, size)
            apart = features * values.diagonal() @ features.T
            wrong += roundings(apart, kernel, size) > 100 * ALLOWED
            paths += len(values)
            zero += not kernel.any()
        run.journal.write(family=family, largest_deviation=deviations.largest(family))
    return {
        **deviations.evidence(),
        "networks_with_zero_kernel": zero,
        "paths": paths,
        "wrong_where_paths_are_taken_apart": wrong,
    }


def judge(evidence: Evidence) -> Verdict:
    counted = evidence["networks"] - evidence["networks_with_zero_kernel"]
    holds = (
        evidence["largest_deviation"] <= ALLOWED
        and counted >= 0.8 * evidence["networks"]
        and evidence["wrong_where_paths_are_taken_apart"] >= 0.5 * counted
    )
    ours = (
        f"{counted} networks of {len(evidence['kinds'].split('; '))} kinds, {evidence['paths']} paths: ΦᵀVΦ "
        f"and the kernel of gradients are apart by {evidence['largest_deviation']:.1f} roundings at most; "
        f"V's diagonal alone is wrong in {evidence['wrong_where_paths_are_taken_apart']}"
    )
    return Verdict.when(holds, ours)


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.deviations import draw_deviations

    return draw_deviations(evidence, ALLOWED, "K − ΦᵀVΦ, in roundings")


claim = Claim(
    id="N5",
    paper="N",
    place="Proposition 3.1",
    kind="exact",
    says=(
        "The tangent kernel is ΦᵀVΦ: path features on both sides of the kernel of the path values' gradients."
    ),
    printed="K_Θ = Φᵀ V Φ",
    scales={
        "smoke": Scale(
            settings=Settings(),
            rule=(
                "Over random networks of every kind, listed features and the listed value tangent kernel "
                f"give the kernel of plain gradients to {ALLOWED} roundings of the summed terms; networks "
                "whose kernel is zero do not count and are less than a fifth; with the diagonal of V alone "
                "at least half are wrong by a hundred times the allowed."
            ),
            judge=judge,
        )
    },
    run=run,
    draw=draw,
)
