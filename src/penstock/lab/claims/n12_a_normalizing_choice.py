"""N Section 5: σ = √(2/w) keeps the diagonal of σ^(2(d-1)) Λ near 1 where the gates are random.

For one input a unit's pre-activation is symmetric, whatever the layer below gave, unless that gave nothing.
Where it is never exactly zero, the open gates of each layer are Binomial(w, ½) and independent of the layers
below, also in a ReLU network. So the mean is 1 at every width and depth, and the variance
(1 + 1/w)^(d-1) - 1. Sums of ±σ can be zero: then gates are shut that a coin would have opened.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, comb
from typing import TYPE_CHECKING

from penstock.errors import PenstockError
from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.least import check_least

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch import Generator, Tensor

    from penstock import GateRecord
    from penstock.lab.claims.estimates import Estimate

__all__ = ["claim"]

HALF_WIDTH = 0.02
"""What a 95 % interval of a mean may be on either side."""

COINS, RELU, SIGNS = "gates of Ber(½)", "ReLU, normal weights", "ReLU, ±σ weights, input 1"
KINDS = (COINS, RELU, SIGNS)
"""Gates of Ber(½) from outside; of ReLU networks for which the claim holds; and of some for which it does
not."""


@dataclass(frozen=True)
class Settings:
    widths: tuple[int, ...] = (10, 25, 60)
    """The hidden widths w."""
    depths: tuple[int, ...] = (2, 3, 6, 12)
    """The numbers d of weight layers; one is 3, for which networks whose sums tie have a closed form."""
    inputs: int = 8
    """How many numbers an input of a ReLU network has."""
    spare: float = 1.4
    """How many times more networks are drawn than the interval needs."""
    batches: int = 40
    """In how many batches they are drawn, at least."""
    seed: int = 0
    """Where gates, weights and inputs start from."""

    def __post_init__(self):
        check_least(self, widths=1, depths=2, inputs=1, batches=10)
        if 3 not in self.depths or min(self.depths) < 2 or min(self.widths) < 2 or self.spare < 1:
            raise PenstockError(
                "the settings widths, depths and spare show nothing without a depth of 3, with no hidden "
                "layer or less than two units in one, or with fewer networks than the interval needs; give "
                "3 among depths= of 2 or more, widths= of 2 or more, spare= of 1 or more"
            )


def run(settings: Settings, run: Run) -> Evidence:
    import torch

    from penstock.lab.claims.estimates import Estimate
    from penstock.lab.models.random_sizes import seeded

    cells = [(kind, width) for kind in KINDS for width in settings.widths]
    found = []
    for number, (kind, width) in enumerate(run.progress(cells, "kinds and widths", len(cells))):
        generator = seeded(settings.seed, number)
        one = Estimate.of(torch.stack(list(_batches(settings, kind, width, generator))))
        found.append(one)
        run.journal.write(
            kind=kind, width=width, mean=one.mean[0, -1].item(), variance=one.mean[1, -1].item()
        )
    shape = (len(KINDS), len(settings.widths), 2, len(settings.depths))
    means = torch.stack([one.mean for one in found]).view(shape)
    errors = torch.stack([one.error for one in found]).view(shape)
    return _evidence(settings, Estimate(means, errors))


def _batches(settings: Settings, kind: str, width: int, generator: "Generator") -> Iterator["Tensor"]:
    """2 × depths a batch: means of the diagonal, and of its squared distance from 1."""
    import torch

    deepest = max(settings.depths)
    needed = _variance(width, deepest) * (1.96 / HALF_WIDTH) ** 2 * settings.spare
    # gates are compared with those of every other network, and all weights of a batch are held at once
    largest = min(150, max(2, 2_000_000 // width**2))
    batches = max(settings.batches, ceil(needed / largest))
    networks = ceil(needed / batches)
    while width % networks == 0:
        networks += 1  # a number of examples that no other dimension could stand for
    for _ in range(batches):
        record = _record(kind, networks, width, settings, generator)
        shared = torch.stack([tau.diagonal() for tau in record.overlap().values()]).double()
        diagonal = (2 / width * shared).cumprod(dim=0)[[depth - 2 for depth in settings.depths]]
        yield torch.stack([diagonal.mean(dim=1), ((diagonal - 1) ** 2).mean(dim=1)])


def _record(kind: str, networks: int, width: int, settings: Settings, generator: "Generator") -> "GateRecord":
    """The gates of one input for each of so many networks."""
    import torch

    from penstock import GateRecord, capture
    from penstock.gates.kinds import Rectifier
    from penstock.lab.models.abreast import NetworksAbreast
    from penstock.lab.models.initialization import Bernoulli, Gaussian
    from penstock.lab.models.memorization import random_gates

    hidden = [width] * (max(settings.depths) - 1)
    if kind == COINS:
        gates = random_gates(networks, hidden, 0.5, generator)
        return GateRecord.from_patterns((str(place), Rectifier(), bits) for place, bits in enumerate(gates))
    sigma = (2 / width) ** 0.5
    if kind == RELU:
        x = torch.randn(networks, settings.inputs, generator=generator)
        widths = (settings.inputs, *hidden, 1)
        return capture(NetworksAbreast(networks, widths, Gaussian(sigma), generator, dtype=x.dtype), x)
    # whole numbers, so that sums which tie are zero and not a rounding
    x = torch.ones(networks, 1, dtype=torch.float64)
    return capture(NetworksAbreast(networks, (1, *hidden, 1), Bernoulli(1.0), generator), x)


def _variance(width: int, depth: int) -> float:
    return (1 + 1 / width) ** (depth - 1) - 1


def _mean_where_sums_tie(width: int) -> float:
    """At d = 3, weights ±σ and input 1: of k open units, k even, a sum is zero with probability
    C(k, k/2)/2^k; so 1 - (2/w) E[k P(tie)], k ~ Binomial(w, ½).
    """
    ties = ((k, comb(k, k // 2) / 2**k) for k in range(0, width + 1, 2))
    return 1 - 2 / width * sum(comb(width, k) / 2**width * k * tie for k, tie in ties)


def _evidence(settings: Settings, found: "Estimate") -> Evidence:
    import torch

    from penstock.lab.claims.estimates import Estimate

    mean, spread = (Estimate(found.mean[:, :, place], found.error[:, :, place]) for place in range(2))
    variance = torch.tensor(
        [[_variance(width, depth) for depth in settings.depths] for width in settings.widths],
        dtype=torch.float64,
    )
    added_up = torch.tensor([[(depth - 1) / width for depth in settings.depths] for width in settings.widths])
    tied = torch.tensor([_mean_where_sums_tie(width) for width in settings.widths], dtype=torch.float64)
    three = settings.depths.index(3)
    at_three = Estimate(mean.mean[2, :, three], mean.error[2, :, three])
    half = torch.tensor([0.5 ** (depth - 1) for depth in settings.depths], dtype=torch.float64)
    return {
        "mean_off_by": float(mean.off_by(1)[:2].max()),
        "half_width": float(mean.half_width[:2].max()),
        "variance_off_by": float(spread.off_by(variance)[:2].max()),
        "added_up_variance_off_by": float(spread.off_by(added_up)[:2].amax(dim=(1, 2)).min()),
        "sigma_of_1_over_w_off_by": float(mean.off_by(half)[:2].min()),
        "tied_off_by": float(at_three.off_by(tied).max()),
        "tied_from_1_at_least": float(at_three.off_by(1).min()),
        "tied_mean": float(at_three.mean[-1]),
        "kinds": "; ".join(KINDS),
        "widths": torch.tensor(settings.widths),
        "depths": torch.tensor(settings.depths),
        "mean": mean.mean,
        "mean_intervals": mean.half_width,
        "variance": spread.mean,
        "variance_intervals": spread.half_width,
        "variance_formula": variance,
    }


def judge(evidence: Evidence) -> Verdict:
    from penstock.lab.claims.estimates import SURE

    holds = (
        evidence["mean_off_by"] <= SURE
        and evidence["half_width"] <= HALF_WIDTH
        and evidence["variance_off_by"] <= SURE
        and evidence["added_up_variance_off_by"] > SURE
        and evidence["sigma_of_1_over_w_off_by"] > SURE
        and evidence["tied_off_by"] <= SURE
        and evidence["tied_from_1_at_least"] > SURE
    )
    spread = evidence["variance_formula"][:, -1] ** 0.5
    ours = (
        f"mean 1 at every width and depth, for Ber(½) gates and for ReLU networks, to "
        f"±{100 * evidence['half_width']:.1f} %; spread √((1 + 1/w)^(d-1) - 1), at d = "
        f"{int(evidence['depths'][-1])} from {float(spread.max()):.2f} (w = {int(evidence['widths'][0])}) to "
        f"{float(spread.min()):.2f} (w = {int(evidence['widths'][-1])}); where ±σ weights tie, "
        f"{evidence['tied_mean']:.2f} at d = 3"
    )
    return Verdict.when(holds, ours)


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.normalizing import draw_normalizing

    return draw_normalizing(evidence)


RULE = (
    "For gates of Ber(½) and for ReLU networks with normal weights, at every w and d, the mean of the "
    "diagonal is 1 within four standard errors, with 95 % intervals of "
    f"±{100 * HALF_WIDTH:.0f} % at most, and its "
    "variance (1 + 1/w)^(d-1) - 1 within four; further off are σ² = 1/w everywhere and, somewhere for "
    "either, a variance of (d-1)/w; with ±σ weights and the input 1 the mean at d = 3 is 1 - (2/w) "
    "E[k P(tie)] within four standard errors, and is not 1."
)

claim = Claim(
    id="N12",
    paper="N",
    place="Section 5, scaling",
    kind="limit",
    says=(
        "Weights of variance 2/w make the diagonal of σ^(2(d-1)) Λ equal 1 on average for random gates, with "
        "a spread of √((1 + 1/w)^(d-1) - 1): one network is near 1 only where it is much wider than deep."
    ),
    printed="σ^(2(d-1)) Λ(s, s) ≈ 1 for σ = √(2/w)",
    scales={
        "smoke": Scale(settings=Settings(), rule=RULE, judge=judge),
        "laptop": Scale(
            settings=Settings(widths=(25, 100, 500), depths=(2, 3, 6, 12, 20), spare=2.0),
            rule=RULE,
            judge=judge,
        ),
    },
    run=run,
    draw=draw,
)
