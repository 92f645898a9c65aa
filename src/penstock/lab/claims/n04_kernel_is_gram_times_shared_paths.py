"""N Lemma 2.1: the path kernel is the inputs' Gram matrix times, entry by entry, the number of paths that are shared."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.deviation import ALLOWED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["claim"]


@dataclass(frozen=True)
class Settings:
    cases: int = 30
    """Random fully connected networks without biases, half in float64 and half in float32."""
    examples: int = 6
    """Inputs of each."""
    seed: int = 0
    """Where widths, weights and inputs start from."""


def run(settings: Settings, run: Run) -> Evidence:
    import torch

    cases = [_case(settings, case) for case in run.progress(range(settings.cases), "random networks")]
    counted = [one for one in cases if one["shared"]]
    for number, one in enumerate(counted):
        run.journal.write(case=number, **{name: value for name, value in one.items() if isinstance(value, float | int)})
    shown = max(counted, key=lambda one: one["distinct"])
    return {
        "cases": len(cases),
        "counted": len(counted),
        "kernel_is_off_by": max(one["kernel"] for one in counted),
        "paths_miscounted": sum(one["miscounted"] for one in counted),
        "undivided_is_off_by_at_least": min((one["undivided"] for one in counted if one["inputs"] > 1), default=0.0),
        "off_by": torch.tensor([[one["kernel"] for one in cases]], dtype=torch.float64),
        **{f"shown_{name}": shown[name] for name in ("gram", "common", "product")},
    }


def _case(settings: Settings, case: int) -> dict[str, Any]:
    import torch

    from penstock import capture, npf
    from penstock.lab.claims.deviation import roundings
    from penstock.lab.models.fully_connected import relu_network
    from penstock.lab.models.initialization import Gaussian
    from penstock.lab.models.random_sizes import random_widths, seeded

    generator = seeded(settings.seed, case)
    dtype = (torch.float64, torch.float32)[case % 2]
    widths = random_widths(generator, hidden=(2, 6))
    model = relu_network(widths, Gaussian(1.0), generator, dtype=dtype)
    x = torch.randn(settings.examples, widths[0], generator=generator, dtype=dtype)

    features = npf(model, x)
    active = (features != 0).double()  # Gaussian inputs are never zero
    shared_by_listing = active @ active.T  # |Act(s, s')|
    common = torch.stack([tau.double() for tau in capture(model, x).overlap().values()]).prod(dim=0)
    gram, kernel = x @ x.T, features @ features.T
    between = ~torch.eye(settings.examples, dtype=torch.bool)
    return {
        "inputs": widths[0],
        "shared": bool(common[between].any()),
        "miscounted": bool((shared_by_listing != widths[0] * common).any()),
        "kernel": roundings(gram * common.to(dtype), kernel),
        "undivided": roundings(gram * shared_by_listing.to(dtype), kernel),
        "distinct": len(common.unique()),
        "gram": gram,
        "common": common,
        "product": kernel,
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
        f"{evidence['kernel_is_off_by']:.2g} roundings at most; Λ by listing and by counting agree in every entry"
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
        "In a fully connected network the path kernel H is the inputs' Gram matrix times, entry by entry, the number Λ of "
        "paths from one input that are open for both, and Λ is the product over layers of the gates they share."
    ),
    printed="H = Σ ⊙ Λ, Λ(s,s') = |Act(s,s')| / d_in = Π_l τ(s,s',l)",
    scales={
        "smoke": Scale(
            settings=Settings(),
            rule=(
                "Over random networks in which two different inputs share a path (at least half of them): H from listed "
                f"features and Σ ⊙ Λ from packed gate counts differ by at most {ALLOWED} roundings of the largest entry, Λ "
                "by listing and by counting agree exactly, and Λ without its division by d_in is off by a hundred times "
                "the allowed wherever d_in is not 1."
            ),
            judge=judge,
        )
    },
    run=run,
    draw=draw,
)
