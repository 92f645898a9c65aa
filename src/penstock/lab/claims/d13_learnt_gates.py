"""D Experiment 5: gates that were learnt generalise better than gates that were not, with values redrawn."""

from typing import TYPE_CHECKING

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.six_layers import FITTED, LAST_EPOCHS, SixLayers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["claim"]

NETWORKS = ("ReLU", "GaLU, learnt gates", "GaLU, unlearnt gates")
ABOVE_UNLEARNT = ((1, 2),)


def run(settings: SixLayers, run: Run) -> Evidence:
    from penstock.lab.claims.six_layers_training import SixLayersTraining, curves, fixed_pair

    training = SixLayersTraining(settings, run)
    gates, values = training.gates, training.values
    relu = training.part("relu", gates, keep_weights=True)
    learnt = training.part(
        "learnt-gates", lambda seed: fixed_pair(training.with_weights_of(relu, seed), values(seed))
    )
    # the gates that the ReLU network had before it learnt
    unlearnt = training.part("unlearnt-gates", lambda seed: fixed_pair(gates(seed), values(seed)))
    return curves(NETWORKS, [relu, learnt, unlearnt])


def judge_order(evidence: Evidence) -> Verdict:
    from penstock.lab.claims.six_layers_rules import by_order

    return by_order(evidence, ABOVE_UNLEARNT, _ours(evidence))


def judge_generalisation(evidence: Evidence) -> Verdict:
    from penstock.lab.claims.six_layers_rules import by_generalisation

    return by_generalisation(evidence, ABOVE_UNLEARNT, _ours(evidence))


def _ours(evidence: Evidence) -> str:
    from penstock.lab.claims.six_layers_rules import accuracies, gains, rest

    relu, learnt, unlearnt = accuracies(evidence)
    (gain,) = gains(evidence, ABOVE_UNLEARNT)
    return (
        f"test accuracy: learnt gates {learnt}, unlearnt gates {unlearnt}, a difference of "
        f"{gain.center:.2f} ± {gain.half_width:.2f}; the ReLU network that learnt them {relu}; "
        f"{rest(evidence)}"
    )


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.learning_curves import draw_learning_curves

    return draw_learning_curves(NETWORKS, evidence["train"], evidence["test"])


_ORDER = (
    f"no run diverges, and the mean test accuracy, over the seeds and the last {100 * LAST_EPOCHS:.0f} % of "
    "the epochs, with learnt gates is above that with unlearnt gates"
)
_GENERALISATION = (
    f"{_ORDER}; then it is direction only, unless the 95 % interval of the mean difference between runs of "
    f"one seed lies above 0, and each of the three networks gets {FITTED:g} % of its training examples right."
)

claim = Claim(
    id="D13",
    paper="D",
    place="Experiment 5",
    kind="figure",
    says=(
        "The gates of a trained ReLU network, kept while all values are drawn again, generalise better than "
        "the gates that it started with."
    ),
    printed="Figure 7, curves without numbers: learnt gates above unlearnt gates, mean of 5 runs",
    scales={
        "smoke": Scale(
            settings=SixLayers(data="digits", examples=500, epochs=20, rate=1e-3, batch=32, seeds=(0, 1, 2)),
            rule=f"On 500 digits of ten classes: {_ORDER}.",
            judge=judge_order,
        ),
        "laptop": Scale(
            settings=SixLayers(epochs=20),
            rule=f"On Binary-MNIST, with a fifth of the epochs: {_GENERALISATION}",
            judge=judge_generalisation,
        ),
        "paper": Scale(
            settings=SixLayers(), rule=f"On Binary-MNIST: {_GENERALISATION}", judge=judge_generalisation
        ),
    },
    run=run,
    draw=draw,
)
