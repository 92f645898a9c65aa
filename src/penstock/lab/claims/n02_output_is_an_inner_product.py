"""N Proposition 2.1: the output of a network is the inner product of its path features and path values."""

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
    """Inputs of a batch; the statement is checked for each."""
    seed: int = 0
    """Where the random networks and inputs start from."""

    def __post_init__(self):
        check_least(self, architectures=1, draws=1, examples=1)


def run(settings: Settings, run: Run) -> Evidence:
    from functools import partial

    from penstock import npf, npv
    from penstock.lab.claims.deviation import Deviations, size_of_sum
    from penstock.lab.models.many import many_networks
    from penstock.lab.models.varied import FAMILIES, varied_network

    deviations = Deviations()
    paths = shut = 0
    for row, family in enumerate(run.progress(FAMILIES, "networks of every kind", len(FAMILIES))):
        make = partial(varied_network, family)
        for network in many_networks(make, settings.seed + row, settings.architectures, settings.draws):
            x = network.inputs(settings.examples)
            features, values = npf(network.model, x), npv(network.model, input_shape=network.shape)
            output = network.model(x).detach()[:, 0]
            deviations.add(family, features @ values, output, size_of_sum(features, values))
            paths += len(values)
            shut += not output.any()
        run.journal.write(family=family, largest_deviation=deviations.largest(family))
    return {**deviations.evidence(), "networks_shut_for_every_input": shut, "paths": paths}


def judge(evidence: Evidence) -> Verdict:
    counted = evidence["networks"] - evidence["networks_shut_for_every_input"]
    holds = evidence["largest_deviation"] <= ALLOWED and counted >= 0.8 * evidence["networks"]
    return Verdict.when(
        holds,
        f"{counted} networks of {len(evidence['kinds'].split('; '))} kinds, {evidence['paths']} paths: "
        f"apart by {evidence['largest_deviation']:.1f} roundings at most",
    )


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.deviations import draw_deviations

    return draw_deviations(evidence, ALLOWED, "output − ⟨φ, v⟩, in roundings")


claim = Claim(
    id="N2",
    paper="N",
    place="Proposition 2.1",
    kind="exact",
    says=(
        "The output of a network is the inner product of its path features and its path values, for every "
        "input."
    ),
    printed="ŷ_Θ(x) = ⟨φ_{x,Θ}, v_Θ⟩",
    scales={
        "smoke": Scale(
            settings=Settings(),
            rule=(
                "Over random networks of every kind the output and the sum over listed paths differ by at "
                f"most {ALLOWED} roundings of the summed terms, for every input; networks that are shut for "
                "all inputs do not count and are less than a fifth."
            ),
            judge=judge,
        )
    },
    run=run,
    draw=draw,
)
