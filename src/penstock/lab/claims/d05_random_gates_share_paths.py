"""D Lemma 2.4: how many paths random gates leave open, for one input and for two."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.errors import PenstockError
from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.least import check_least

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch import Generator, Tensor

    from penstock.lab.claims.estimates import Estimate

__all__ = ["claim"]

SELF_HALF_WIDTH, CROSS_HALF_WIDTH = 0.02, 0.05


@dataclass(frozen=True)
class Settings:
    mus: tuple[float, ...] = (0.3, 0.5, 0.7)
    """The probabilities μ with which a gate is open."""
    widths: tuple[int, ...] = (25, 100, 500)
    """The hidden widths w; 25 and 500 are those of D Experiment 1."""
    depths: tuple[int, ...] = (2, 4, 8)
    """The numbers d of weight layers."""
    examples: int = 50
    """Inputs, each with gates of its own."""
    batches: int = 300
    """How often the gates of all inputs are drawn."""
    seed: int = 0
    """Where the gates start from."""

    def __post_init__(self):
        check_least(self, mus=1, widths=1, depths=1, examples=2, batches=10)
        if not all(0 < mu < 1 for mu in self.mus) or min(self.widths) < 1 or min(self.depths) < 2:
            raise PenstockError(
                "the settings mus, widths and depths show nothing with a gate that is never or always open, "
                "without units, or without a hidden layer; give 0 < μ < 1, w of 1 or more, d of 2 or more"
            )


def run(settings: Settings, run: Run) -> Evidence:
    import torch

    from penstock.lab.claims.estimates import Estimate
    from penstock.lab.models.random_sizes import seeded

    cells = [(mu, width) for mu in settings.mus for width in settings.widths]
    found = []
    for number, (mu, width) in enumerate(run.progress(cells, "probabilities and widths", len(cells))):
        generator = seeded(settings.seed, number)
        batches = torch.stack([_batch(settings, mu, width, generator) for _ in range(settings.batches)])
        one = Estimate.of(batches)
        found.append(one)
        run.journal.write(mu=mu, width=width, own=one.mean[0, -1].item(), cross=one.mean[1, -1].item())
    shape = (len(settings.mus), len(settings.widths), -1, len(settings.depths))
    every = Estimate(
        torch.stack([one.mean for one in found]).view(shape),
        torch.stack([one.error for one in found]).view(shape),
    )
    return _evidence(settings, every)


def _batch(settings: Settings, mu: float, width: int, generator: "Generator") -> "Tensor":
    """Quantities × depths, each of mean 1 or a variance: λ_self and λ_cross over what the lemma says, their
    squared distances from 1, and λ_self where all layers repeat the gates of the first.
    """
    import torch

    from penstock import GateRecord
    from penstock.gates.kinds import Rectifier
    from penstock.lab.models.memorization import random_gates

    layers = max(settings.depths) - 1
    gates = random_gates(settings.examples, [width] * layers, mu, generator)
    record = GateRecord.from_patterns((str(place), Rectifier(), bits) for place, bits in enumerate(gates))
    one, other = torch.triu_indices(settings.examples, settings.examples, offset=1)
    shared = [tau.double() for tau in record.overlap().values()]
    own = torch.stack([tau.diagonal() / (mu * width) for tau in shared]).cumprod(dim=0)
    cross = torch.stack([tau[one, other] / (mu**2 * width) for tau in shared]).cumprod(dim=0)
    repeated = own[0] ** torch.arange(1, layers + 1)[:, None]
    wanted = [depth - 2 for depth in settings.depths]
    each = (own, cross, (own - 1) ** 2, (cross - 1) ** 2, repeated)
    return torch.stack([quantity[wanted].mean(dim=1) for quantity in each])


def _evidence(settings: Settings, every: "Estimate") -> Evidence:
    import torch

    from penstock.lab.claims.estimates import Estimate

    own, cross, own_spread, cross_spread, repeated = (
        Estimate(every.mean[:, :, place], every.error[:, :, place]) for place in range(5)
    )
    mu = torch.tensor(settings.mus, dtype=torch.float64)[:, None, None]
    width = torch.tensor(settings.widths, dtype=torch.float64)[:, None]
    layers = torch.tensor(settings.depths, dtype=torch.float64) - 1
    own_variance = (1 + (1 - mu) / (mu * width)) ** layers - 1
    cross_variance = (1 + (1 - mu**2) / (mu**2 * width)) ** layers - 1
    spreads = [
        spread.off_by(variance)[variance <= 1]
        for spread, variance in ((own_spread, own_variance), (cross_spread, cross_variance))
    ]
    added_up = (layers * (1 - mu) / (mu * width)).expand_as(own_variance)
    return {
        "cells": own.mean.numel(),
        "own_off_by": float(own.off_by(1).max()),
        "own_half_width": float(own.half_width.max()),
        "cross_off_by": float(cross.off_by(1).max()),
        "cross_half_width": float(cross.half_width.max()),
        # as printed in the introduction: λ_cross is μ^d of λ_self, and not μ^(d-1)
        "power_d_off_by_at_least": float(cross.off_by(mu).min()),
        "spreads_off_by": float(torch.cat(spreads).max()),
        "added_up_spread_off_by": float(own_spread.off_by(added_up)[own_variance <= 1].max()),
        "repeated_gates_off_by": float(repeated.off_by(1)[..., -1].min()),
        "mus": torch.tensor(settings.mus),
        "widths": torch.tensor(settings.widths),
        "depths": torch.tensor(settings.depths),
        "own": own.mean,
        "own_intervals": own.half_width,
        "cross": cross.mean,
        "cross_intervals": cross.half_width,
    }


def judge(evidence: Evidence) -> Verdict:
    from penstock.lab.claims.estimates import SURE

    holds = (
        evidence["own_off_by"] <= SURE
        and evidence["cross_off_by"] <= SURE
        and evidence["own_half_width"] <= SELF_HALF_WIDTH
        and evidence["cross_half_width"] <= CROSS_HALF_WIDTH
        and evidence["spreads_off_by"] <= SURE
        and evidence["power_d_off_by_at_least"] > SURE
        and evidence["added_up_spread_off_by"] > SURE
        and evidence["repeated_gates_off_by"] > SURE
    )
    off_by = max(evidence["own_off_by"], evidence["cross_off_by"])
    own, cross = 100 * evidence["own_half_width"], 100 * evidence["cross_half_width"]
    ours = (
        f"{evidence['cells']} cells of μ, w, d: both means are within {off_by:.1f} standard errors of "
        f"what is printed (95 % intervals of ±{own:.1f} % for λ(s,s), ±{cross:.1f} % for λ(s,s') at most); "
        f"λ(s,s') = μ^d λ(s,s) is off by {evidence['power_d_off_by_at_least']:.0f} and more"
    )
    return Verdict.when(holds, ours)


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.shared_paths import draw_shared_paths

    return draw_shared_paths(evidence)


claim = Claim(
    id="D5",
    paper="D",
    place="Lemma 2.4 (Lemma 7.4)",
    kind="limit",
    says=(
        "Gates that are open with probability μ, each for itself, leave (μw)^(d-1) paths from each input "
        "node open on average for one input, and (μ²w)^(d-1) for two."
    ),
    printed="E λ(s,s) = (μw)^(d-1), E λ(s,s') = (μ²w)^(d-1)",
    scales={
        "smoke": Scale(
            settings=Settings(),
            rule=(
                "Over μ, w and d both means are within four standard errors of what is printed, with 95 % "
                f"intervals of ±{100 * SELF_HALF_WIDTH:.0f} % for λ(s,s) and ±{100 * CROSS_HALF_WIDTH:.0f} % "
                "for λ(s,s') at most; the relative variances, where they are 1 or less, are within four of "
                "(1 + (1-μ)/(μw))^(d-1) - 1 and the same with μ² for μ; further off are λ(s,s') = μ^d λ(s,s) "
                "in every cell, a variance of (d-1)(1-μ)/(μw) in some, and at the largest d gates that every "
                "layer repeats."
            ),
            judge=judge,
        )
    },
    run=run,
    draw=draw,
)
