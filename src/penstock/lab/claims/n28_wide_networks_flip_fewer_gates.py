"""N Section 5, statistical independence: gates flip less in training the wider a network is."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.errors import PenstockError
from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.least import check_least, check_positive

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch import Tensor

    from penstock.lab.claims.flips_by_width import Problem

__all__ = ["claim"]

SLOPE, BAND, HALF_WIDTH = -0.5, 0.12, 0.1
LEARNT = 0.8
"""The share of training examples that every width tells right: without learning nothing flips."""


@dataclass(frozen=True)
class Settings:
    data: str = "digits"
    """The data set that is learnt, by squared loss on one number for each class."""
    examples: int = 200
    """How many of its examples, the first ones."""
    hidden: int = 1
    """Hidden layers."""
    widths: tuple[int, ...] = (64, 128, 256, 512, 1024)
    """Units in each of them."""
    epochs: int = 40
    """Epochs of gradient descent."""
    batch: int = 20
    """Examples in a step."""
    rate: float = 1.0
    """The step, in the parameterisation whose kernel has a limit: one step for all widths."""
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    """One network of each width and normalisation each."""

    def __post_init__(self):
        check_least(self, examples=10, hidden=1, widths=3, epochs=1, batch=1, seeds=3)
        check_positive(self, "rate")
        if min(self.widths) < 1 or len(set(self.widths)) < len(self.widths):
            raise PenstockError(f"the setting widths is {self.widths}; give different numbers, 1 or more")


def run(settings: Settings, run: Run) -> Evidence:
    import torch

    from penstock.lab.claims.flips_by_width import Problem
    from penstock.lab.data.named import load_data

    data = load_data(settings.data, run.data).to(run.device, torch.float32)
    how = {name: getattr(settings, name) for name in ("hidden", "epochs", "batch", "seeds")}
    problem = Problem.of(data, settings.examples, **how)
    found = [
        _both(settings, problem, width, run) for width in run.progress(settings.widths, "widths of networks")
    ]
    share, accuracy = (
        torch.stack([torch.stack([one[what] for one in both]) for both in found], dim=1)
        for what in ("share", "accuracy")
    )
    return {
        "data": settings.data,
        "layers": settings.hidden + 1,
        "widths": torch.tensor(settings.widths),
        "share": share,
        "accuracy": accuracy,
        "least_learnt": float(accuracy.mean(dim=2).min()),
        "diverged": sum(int(one["diverged"]) for both in found for one in both),
        **_slopes(torch.tensor(settings.widths), share),
    }


def _both(settings: Settings, problem: "Problem", width: int, run: Run) -> list[Evidence]:
    """What became of the networks of one width, in both normalisations."""
    from penstock.lab.claims.flips_by_width import flips, normalizations

    inputs, narrowest = problem.x.shape[1], min(settings.widths)
    ways = normalizations(inputs, width, settings.hidden, settings.rate, same_at=narrowest)
    names = [f"{way.name.replace(' ', '-')}-{width}" for way in ways]
    return [
        run.part(name, lambda way=way, name=name: flips(problem, width, way, run, name))
        for way, name in zip(ways, names, strict=True)
    ]


def _slopes(widths: "Tensor", share: "Tensor") -> dict[str, float]:
    """Of log share against log w; and of the ratio of both normalisations, whose networks begin with the same
    gates.
    """
    from penstock.lab.claims.paired import slope_of

    x = widths.double().log()[:, None].expand(share.shape[1:]).flatten()
    fan_in, theirs = (each.flatten().log() for each in share)
    slope, printed, flatter = slope_of(x, fan_in), slope_of(x, theirs), slope_of(x, theirs - fan_in)
    return {
        "slope": slope.center,
        "slope_half_width": slope.half_width,
        "printed_slope": printed.center,
        "printed_slope_half_width": printed.half_width,
        "flatter_by_at_least": flatter.low,
    }


def judge_slope(evidence: Evidence) -> Verdict:
    """Half a power, or not."""
    return Verdict.when(_sound(evidence) and _half_a_power(evidence), _ours(evidence))


def judge_size(evidence: Evidence) -> Verdict:
    """Half a power, or a fall all the same."""
    if not _sound(evidence) or evidence["slope"] + evidence["slope_half_width"] >= SLOPE / 2:
        return Verdict("not reproduced", _ours(evidence))
    return Verdict("reproduced" if _half_a_power(evidence) else "direction only", _ours(evidence))


def _sound(evidence: Evidence) -> bool:
    """Whether something was learnt, and the tempting normalisation told apart."""
    return (
        evidence["diverged"] == 0
        and evidence["least_learnt"] >= LEARNT
        and evidence["flatter_by_at_least"] > 0
    )


def _half_a_power(evidence: Evidence) -> bool:
    return abs(evidence["slope"] - SLOPE) <= BAND and evidence["slope_half_width"] <= HALF_WIDTH


def _ours(evidence: Evidence) -> str:
    widths, means = evidence["widths"].tolist(), (100 * evidence["share"][0].mean(dim=1)).tolist()
    return (
        f"{means[0]:.1f} % of the gates flip at w = {widths[0]}, {means[-1]:.1f} % at {widths[-1]}: slope "
        f"{evidence['slope']:.2f} ± {evidence['slope_half_width']:.2f} (all learn "
        f"{100 * evidence['least_learnt']:.0f} % or more); with a first layer of order 1/√w too, as "
        f"in Theorem 5.1, {evidence['printed_slope']:.2f} ± {evidence['printed_slope_half_width']:.2f}"
    )


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.flips_by_width import draw_flips_by_width

    return draw_flips_by_width(evidence)


_SOUND = (
    f"No training diverges and every width tells {100 * LEARNT:.0f} % of its training examples right, in "
    "both normalisations. With √(2/fan-in) before every layer and one step for all widths, the slope of the "
    "share of flipped gates against w, both logarithmic, is within "
    f"{BAND} of -1/2, its 95 % interval at most ±{HALF_WIDTH}"
)
_CONTROL = (
    "With a first layer of order 1/√w too, the same at the smallest width, it is flatter, the 95 % interval "
    "of the difference above zero."
)

claim = Claim(
    id="N28",
    paper="N",
    place="Section 5, statistical independence",
    kind="limit",
    says=(
        "In wide networks fewer gates flip during training, about as 1/√w: so it is in the parameterisation "
        "in which the tangent kernel has a limit (√(2/fan-in) before every layer, one step for all widths)."
    ),
    printed="the activations undergo only an order of 1/√w change during training",
    scales={
        "smoke": Scale(settings=Settings(), rule=f"{_SOUND}. {_CONTROL}", judge=judge_slope),
        "laptop": Scale(
            settings=Settings(
                data="mnist",
                examples=1000,
                widths=(64, 256, 1024, 4096),
                rate=2.0,
                seeds=(0, 1, 2),
            ),
            rule=f"{_SOUND}; direction only where it is not, but the interval is below -1/4. {_CONTROL}",
            judge=judge_size,
        ),
    },
    run=run,
    draw=draw,
)
