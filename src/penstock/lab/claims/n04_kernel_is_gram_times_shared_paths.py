"""N Lemma 2.1: the path kernel is the inputs' Gram matrix times the number of paths in common."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.deviation import ALLOWED
from penstock.lab.claims.least import check_least

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from penstock.lab.models.many import Network

__all__ = ["claim"]


@dataclass(frozen=True)
class Settings:
    architectures: int = 6
    """Random widths of networks without biases, in float64 and float32 by turns."""
    draws: int = 8
    """Random weights for each."""
    examples: int = 6
    """Inputs of each network."""
    seed: int = 0
    """Where the random networks and inputs start from."""

    def __post_init__(self):
        check_least(self, architectures=1, draws=1, examples=2)


def run(settings: Settings, run: Run) -> Evidence:
    from functools import partial

    from penstock.lab.models.fully_connected import random_relu_network
    from penstock.lab.models.many import many_networks

    make = partial(random_relu_network, inputs=(1, 4), hidden=(2, 6))
    networks = many_networks(make, settings.seed, settings.architectures, settings.draws)
    total = settings.architectures * settings.draws
    cases = [
        _case(network, settings.examples) for network in run.progress(networks, "random networks", total)
    ]
    counted = [one for one in cases if one["shared"]]
    shown = max(counted or cases, key=lambda one: one["different"])
    return {
        "cases": len(cases),
        "counted": len(counted),
        "kernel_is_off_by": max((one["kernel"] for one in counted), default=0.0),
        "paths_miscounted": sum(one["miscounted"] for one in counted),
        "undivided_is_off_by_at_least": min(
            (one["undivided"] for one in counted if one["inputs"] > 1), default=0.0
        ),
        **{f"shown_{name}": shown[name] for name in ("gram", "common", "product")},
    }


def _case(network: "Network", examples: int) -> dict[str, Any]:
    import torch

    from penstock import capture, npf
    from penstock.lab.claims.deviation import roundings

    x = network.inputs(examples)
    features = npf(network.model, x)
    active = (features != 0).double()  # the inputs have no zeros
    shared_by_listing = active @ active.T  # |Act(s, s')|
    common = torch.stack([tau.double() for tau in capture(network.model, x).overlap().values()]).prod(dim=0)
    gram, kernel = x @ x.T, features @ features.T
    between = ~torch.eye(examples, dtype=torch.bool)
    inputs = network.shape[0]
    return {
        "inputs": inputs,
        "shared": bool(common[between].any()),
        "miscounted": bool((shared_by_listing != inputs * common).any()),
        "kernel": roundings(gram * common.to(x.dtype), kernel),
        "undivided": roundings(gram * shared_by_listing.to(x.dtype), kernel),
        "different": len(common.unique()),
        "gram": gram.double(),
        "common": common,
        "product": kernel.double(),
    }


def judge(evidence: Evidence) -> Verdict:
    holds = (
        evidence["kernel_is_off_by"] <= ALLOWED
        and evidence["paths_miscounted"] == 0
        and evidence["undivided_is_off_by_at_least"] > 100 * ALLOWED
        and evidence["counted"] >= 0.5 * evidence["cases"]
    )
    ours = (
        f"{evidence['counted']} random networks: listed features and packed counts give one H, apart by "
        f"{evidence['kernel_is_off_by']:.1f} roundings at most; Λ by listing and by counting agree in every "
        "entry"
    )
    return Verdict.when(holds, ours)


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.matrices import draw_product

    return draw_product(
        {
            r"$\Sigma$: inner products of the inputs": evidence["shown_gram"],
            r"$\Lambda$: paths in common, from one input": evidence["shown_common"],
            r"$H = \Sigma \odot \Lambda$": evidence["shown_product"],
        },
        signs=("⊙", "="),
    )


claim = Claim(
    id="N4",
    paper="N",
    place="Lemma 2.1, Definitions 2.2 and C.2",
    kind="exact",
    says=(
        "In a fully connected network the path kernel H is the inputs' Gram matrix times, entry by entry, "
        "the number Λ of paths from one input that are open for both, and Λ is the product over layers of "
        "the gates they share."
    ),
    printed="H = Σ ⊙ Λ, Λ(s,s') = |Act(s,s')| / d_in = Π_l τ(s,s',l)",
    scales={
        "smoke": Scale(
            settings=Settings(),
            rule=(
                "Over random networks in which two different inputs share a path (at least half of them): "
                f"H from listed features and Σ ⊙ Λ from packed gate counts differ by at most {ALLOWED} "
                "roundings of the largest entry, Λ by listing and by counting agree exactly, and Λ without "
                "its division by d_in is off by a hundred times the allowed wherever d_in is not 1."
            ),
            judge=judge,
        )
    },
    run=run,
    draw=draw,
)
