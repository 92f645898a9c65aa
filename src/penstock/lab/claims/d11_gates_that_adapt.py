"""D Experiment 3: networks whose gates adapt generalise better than one whose gates are frozen."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.least import check_positive
from penstock.lab.claims.six_layers import FITTED, LAST_EPOCHS, SixLayers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["claim"]

FROZEN = "GaLU, frozen gates"
ADAPTING = ("soft-GaLU", "soft-ReLU", "ReLU")
NETWORKS = (*ADAPTING, FROZEN)
ABOVE_FROZEN = tuple((place, len(ADAPTING)) for place in range(len(ADAPTING)))


@dataclass(frozen=True)
class Settings(SixLayers):
    beta: float = 4.0
    """How steep the soft gates are."""
    epsilon: float = 0.1
    """By how much the soft gates pass 1; Experiment 3 does not say, D Table 4 has 0.1 and 0.4."""
    feature_gate: Literal["soft", "hard"] = "soft"
    """What soft-GaLU's gating network is itself: soft, as in D Table 2, or hard, N Table 4's ReLU network."""

    def __post_init__(self):
        super().__post_init__()
        check_positive(self, "beta")


def run(settings: Settings, run: Run) -> Evidence:
    from penstock import Hard, Soft, decouple
    from penstock.lab.claims.six_layers_training import SixLayersTraining, adapting_pair, curves, fixed_pair

    training = SixLayersTraining(settings, run)
    gates, values = training.gates, training.values
    soft = Soft(settings.beta, settings.epsilon)
    features = soft if settings.feature_gate == "soft" else Hard()
    parts = [
        training.part("soft-galu", lambda seed: adapting_pair(gates(seed), values(seed), soft, features)),
        training.part("soft-relu", lambda seed: decouple(gates(seed), soft, feature_gate=soft, tied=True)),
        training.part("relu", gates),
        training.part("frozen-galu", lambda seed: fixed_pair(gates(seed), values(seed))),
    ]
    return curves(NETWORKS, parts)


def judge_order(evidence: Evidence) -> Verdict:
    from penstock.lab.claims.six_layers_rules import by_order

    return by_order(evidence, ABOVE_FROZEN, _ours(evidence))


def judge_generalisation(evidence: Evidence) -> Verdict:
    from penstock.lab.claims.six_layers_rules import by_generalisation

    return by_generalisation(evidence, ABOVE_FROZEN, _ours(evidence))


def _ours(evidence: Evidence) -> str:
    from penstock.lab.claims.six_layers_rules import accuracies, gains, rest

    *adapting, frozen = accuracies(evidence)
    told = (
        f"{name} {accuracy} ({gain.center:+.2f} ± {gain.half_width:.2f})"
        for name, accuracy, gain in zip(ADAPTING, adapting, gains(evidence, ABOVE_FROZEN), strict=True)
    )
    return (
        f"test accuracy, in brackets above frozen gates: {', '.join(told)}; {FROZEN} {frozen}; "
        f"{rest(evidence)}"
    )


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.learning_curves import draw_learning_curves

    return draw_learning_curves(NETWORKS, evidence["train"], evidence["test"])


_ORDER = (
    f"no run diverges, and the mean test accuracy, over the seeds and the last {100 * LAST_EPOCHS:.0f} % of "
    "the epochs, of soft-GaLU, of soft-ReLU and of ReLU is above that of frozen GaLU"
)
_GENERALISATION = (
    f"{_ORDER}; then it is direction only, unless for each of the three the 95 % interval of the mean "
    "difference between runs of one seed lies above 0, and each of the four networks gets "
    f"{FITTED:g} % of its training examples right."
)

claim = Claim(
    id="D11",
    paper="D",
    place="Experiment 3",
    kind="figure",
    says=(
        "Networks whose gates adapt (soft-GaLU, soft-ReLU, ReLU) generalise better than a GaLU network with "
        "frozen random gates."
    ),
    printed=(
        "Figure 7, curves without numbers: N(Θ^g, β=4; Θ^w), N(Θ, β=4; Θ) and N(Θ, ∞; Θ) above N(Θ^g_†, ∞; "
        "Θ^w) on Binary-MNIST, mean of 5 runs"
    ),
    scales={
        "smoke": Scale(
            settings=Settings(data="digits", examples=500, epochs=20, rate=1e-3, batch=32, seeds=(0, 1, 2)),
            rule=f"On 500 digits of ten classes: {_ORDER}.",
            judge=judge_order,
        ),
        "laptop": Scale(
            settings=Settings(epochs=20),
            rule=f"On Binary-MNIST, with a fifth of the epochs: {_GENERALISATION}",
            judge=judge_generalisation,
        ),
        "paper": Scale(
            settings=Settings(), rule=f"On Binary-MNIST: {_GENERALISATION}", judge=judge_generalisation
        ),
    },
    run=run,
    draw=draw,
)
