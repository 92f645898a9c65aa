"""N Proposition 2.1: the output of a network is the inner product of its path features and path values."""

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
    """Inputs of a batch; the statement is checked for each."""
    seed: int = 0
    """Where the random networks and inputs start from."""


def run(settings: Settings, run: Run) -> Evidence:
    import torch

    from penstock import npf, npv
    from penstock.lab.claims.deviation import roundings, size_of_sum
    from penstock.lab.models.random_sizes import seeded
    from penstock.lab.models.varied import FAMILIES, varied_network

    deviations = torch.zeros(len(FAMILIES), settings.cases, dtype=torch.float64)
    paths, silent = 0, 0
    for row, family in enumerate(run.progress(FAMILIES, "networks of every kind", len(FAMILIES))):
        for case in range(settings.cases):
            generator = seeded(settings.seed, row, case)
            dtype = (torch.float64, torch.float32)[case % 2]
            model, shape = varied_network(family, generator, dtype)
            x = torch.randn(settings.examples, *shape, generator=generator, dtype=dtype)
            features, values = npf(model, x), npv(model, input_shape=shape)
            with torch.no_grad():
                output = model(x)[:, 0]
            deviations[row, case] = roundings(features @ values, output, size_of_sum(features, values))
            paths += len(values)
            silent += not output.any()
        run.journal.write(family=family, largest_deviation=float(deviations[row].max()))
    return {
        "deviations": deviations,
        "families": ", ".join(FAMILIES),
        "largest_deviation": float(deviations.max()),
        "networks": deviations.numel(),
        "networks_shut_for_every_input": silent,
        "paths": paths,
    }


def judge(evidence: Evidence) -> Verdict:
    counted = evidence["networks"] - evidence["networks_shut_for_every_input"]
    holds = evidence["largest_deviation"] <= ALLOWED and counted >= 0.8 * evidence["networks"]
    return Verdict.when(
        holds,
        f"{counted} networks of {len(evidence['deviations'])} kinds, {evidence['paths']} paths: "
        f"apart by {evidence['largest_deviation']:.2g} roundings at most",
    )


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.deviations import draw_deviations

    return draw_deviations(
        evidence["families"].split(", "), evidence["deviations"], ALLOWED, "output − ⟨φ, v⟩, in roundings"
    )


claim = Claim(
    id="N2",
    paper="N",
    place="Proposition 2.1",
    kind="exact",
    says="The output of a network is the inner product of its path features and its path values, for every input.",
    printed="ŷ_Θ(x) = ⟨φ_{x,Θ}, v_Θ⟩",
    scales={
        "smoke": Scale(
            settings=Settings(),
            rule=(
                "Over random networks of every kind the output and the sum over listed paths differ by at most "
                f"{ALLOWED} roundings of the summed terms, for every input; networks that are shut for all inputs do "
                "not count and are less than a fifth."
            ),
            judge=judge,
        )
    },
    run=run,
    draw=draw,
)
