"""N Figure 1: a 2-3-3-1 network has 18 paths, and its gates leave each input a sub-network of them."""

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.deviation import ALLOWED
from penstock.lab.claims.least import check_least

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["claim"]

WIDTHS = (2, 3, 3, 1)


@dataclass(frozen=True)
class Settings:
    networks: int = 5
    """Random networks beside the figure's; each has as many paths as the product of its widths."""
    seed: int = 0
    """Where the random networks start from."""

    def __post_init__(self):
        check_least(self, networks=0)


def run(settings: Settings, run: Run) -> Evidence:
    from penstock import capture, npf, npv
    from penstock.lab.claims.deviation import roundings
    from penstock.lab.models.toy import toy_inputs, toy_network

    model, x = toy_network(), toy_inputs()
    features, values = npf(model, x), npv(model)
    active = (features != 0).double()  # no input of the toy is zero
    gates = list(capture(model, x).to_dense().values())
    both = (active[0] * active[1]).nonzero()[:, 0] + 1
    return {
        "paths": len(values),
        "order_is_off_by": _order(settings.seed),
        "open_for_x1_and_x2": " ".join(f"p{path}" for path in both.tolist()),
        "shared_paths": active @ active.T / WIDTHS[0],
        "output_is_off_by": roundings(features @ values, model(x).detach()[:, 0]),
        "random_networks": settings.networks,
        "miscounted": sum(
            _miscounted(settings.seed, network)
            for network in run.progress(range(settings.networks), "counting")
        ),
        "gates_1": gates[0],
        "gates_2": gates[1],
    }


def _order(seed: int) -> float:
    """How far the listed values of random weights are from those in the figure's order, p1 … p9 from x(1)."""
    import torch

    from penstock import npv
    from penstock.lab.claims.deviation import roundings
    from penstock.lab.models.fully_connected import relu_network
    from penstock.lab.models.initialization import Gaussian
    from penstock.lab.models.random_sizes import seeded

    model = relu_network(WIDTHS, Gaussian(1.0), seeded(seed))
    first, second, last = (weight.detach() for weight in model.parameters())
    figures = torch.stack(
        [
            last[0, j] * second[j, i] * first[i, start]
            for start in range(2)
            for i in range(3)
            for j in range(3)
        ]
    )
    return roundings(npv(model), figures)


def _miscounted(seed: int, network: int) -> bool:
    from penstock import count_paths, npv
    from penstock.lab.models.fully_connected import relu_network
    from penstock.lab.models.initialization import Gaussian
    from penstock.lab.models.random_sizes import random_widths, seeded

    generator = seeded(seed, network)
    widths = random_widths(generator)
    model = relu_network(widths, Gaussian(1.0), generator)
    return {count_paths(model), len(npv(model))} != {prod(widths)}


def judge(evidence: Evidence) -> Verdict:
    shared = evidence["shared_paths"]
    holds = (
        evidence["paths"] == 18
        and evidence["miscounted"] == 0
        and max(evidence["order_is_off_by"], evidence["output_is_off_by"]) <= ALLOWED
        and evidence["open_for_x1_and_x2"] == "p3 p12"
        and float(shared[0, 1]) == 1
        and float(shared.diagonal().min()) > 1
    )
    ours = (
        f"{evidence['paths']} paths; for both x1 and x2 {evidence['open_for_x1_and_x2']} are open, so "
        f"Λ(1,2) = {float(shared[0, 1]):g} with Λ(1,1) = {float(shared[0, 0]):g} and Λ(2,2) = "
        f"{float(shared[1, 1]):g}"
    )
    return Verdict.when(holds, ours)


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.subnetworks import draw_opened

    return draw_opened(WIDTHS, [evidence["gates_1"], evidence["gates_2"]])


claim = Claim(
    id="N3",
    paper="N",
    place="Figure 1",
    kind="exact",
    says=(
        "A 2-3-3-1 network has 18 paths; where two inputs share one gate a layer, two of these are open for "
        "both and Λ is 1."
    ),
    printed=(
        "18 paths; Λ(1,2) = 1, because p3 and p12 are both active for x1 and x2 and the input dimension is 2"
    ),
    scales={
        "smoke": Scale(
            settings=Settings(),
            rule=(
                "The listed paths are 18, in the figure's order; in a real network with gates of the "
                "figure's kind exactly p3 and p12 are open for both of the first two inputs, Λ(1,2) is 1 "
                "and every Λ(s,s) more; in random networks the paths listed and those counted are as many "
                "as the product of the widths."
            ),
            judge=judge,
        )
    },
    run=run,
    draw=draw,
)
