"""D Section 3.1: gates that are wide open hardly move, and on a path that learns one gate is not.

A gate G(q) = (1 + ε)σ(βq) has the slope βG(1 - G/(1 + ε)), which falls from G = (1 + ε)/2 on. So a gate above
τ_A ≥ (1 + ε)/2 moves with a parameter by at most βτ_A(1 - τ_A/(1 + ε)) · |∂q/∂θ|.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.errors import PenstockError
from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.deviation import ALLOWED
from penstock.lab.claims.least import check_least, check_positive

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch import Tensor

    from penstock import GatedNetwork
    from penstock.lab.claims.derivatives_of_gates import GateDerivatives

__all__ = ["claim"]

BETAS, EPSILONS = (1.0, 4.0, 8.0), (0.0, 0.1, 0.4)
"""Of the random networks' soft gates."""
ANY = 1e-3
"""A threshold τ_S above 0: as printed, it need not be more."""
BELOW = 0.25
"""A threshold τ_A of less than half of 1 + ε, in parts of it."""
LEAST = 50
"""How many cases with both kinds of gates there must be, and how many sensitive paths."""

WRONG = ("as_printed", "without_its_sign", "without_beta", "without_dq", "below_half")
"""Thresholds that do not keep the two kinds apart."""


@dataclass(frozen=True)
class Settings:
    networks: int = 36
    """Random pairs: gating networks soft or hard, of weights of their own or the values'."""
    inputs: int = 12
    """Inputs of each."""
    shares: tuple[float, ...] = (0.6, 0.75, 0.9, 0.95)
    """Thresholds τ_A, in parts of 1 + ε; at one half no gate is above both thresholds, or sensitive."""
    width: int = 8
    """Units in each of the three hidden layers of the network that is trained (on the digits 4 against 7)."""
    epochs: tuple[int, ...] = (0, 1, 2, 4, 7, 12, 20, 30)
    """When its gates are looked at."""
    rate: float = 1e-3
    """RMSprop's step."""
    beta: float = 4.0
    """How steep its gates are."""
    epsilon: float = 0.1
    """By how much they pass 1."""
    share: float = 0.8
    """Its threshold τ_A, in parts of 1 + ε."""
    seed: int = 0
    """Where weights and inputs start from."""

    def __post_init__(self):
        check_least(self, networks=1, inputs=1, shares=1, width=2, epochs=2)
        check_positive(self, "rate", "beta")
        if not all(0.5 <= share < 1 for share in (*self.shares, self.share)):
            raise PenstockError(
                "the settings shares and share are parts of 1 + ε from one half on, and below 1; give 0.75"
            )


def run(settings: Settings, run: Run) -> Evidence:
    import torch

    found: list[dict[str, Any]] = []
    for number in run.progress(range(settings.networks), "random pairs", settings.networks):
        pair, x = _random_pair(settings, number)
        looked = _look_at(pair, x, settings.shares)
        found.append(looked)
        run.journal.write(pair=number, **{key: looked[key] for key in ("cases", "sensitive_paths")})
    trained = _trained(settings, run)
    found.extend(trained.pop("found"))
    sums = {
        key: sum(one[key] for one in found)
        for key in found[0]
        if key not in ("closest", "least_term", "sensitivity_is_off_by", "equation_6_is_off_by")
    }
    return {
        **sums,
        "closest": max(one["closest"] for one in found),
        "least_term": min(one["least_term"] for one in found),
        "sensitivity_is_off_by": max(one["sensitivity_is_off_by"] for one in found),
        "equation_6_is_off_by": max(one["equation_6_is_off_by"] for one in found),
        **{key: torch.as_tensor(value) for key, value in trained.items()},
    }


def _random_pair(settings: Settings, number: int) -> "tuple[GatedNetwork, Tensor]":
    import torch

    from penstock import Hard, Soft, decouple
    from penstock.lab.models.fully_connected import relu_network
    from penstock.lab.models.initialization import Gaussian
    from penstock.lab.models.random_sizes import random_widths, seeded

    generator = seeded(settings.seed, number)
    soft = Soft(BETAS[number % 3], EPSILONS[number // 3 % 3])
    widths = random_widths(generator, hidden=(3, 5), depth=(3, 4))
    model = relu_network(widths, Gaussian(1.0), generator)
    if number % 4 == 0:
        pair = decouple(model, soft, feature_gate=soft, tied=True)
    else:
        pair = decouple(model, soft, feature_gate=Hard() if number % 4 == 1 else soft)
        pair.feature.load_state_dict(relu_network(widths, Gaussian(1.0), generator).state_dict())
    return pair, torch.randn(settings.inputs, widths[0], generator=generator, dtype=torch.float64)


def _look_at(pair: "GatedNetwork", x: "Tensor", shares: tuple[float, ...]) -> dict[str, Any]:
    """What the thresholds do to one pair, for each input and each τ_A."""
    import torch

    from penstock import sensitivity
    from penstock.lab.claims.derivatives_of_gates import gate_derivatives
    from penstock.lab.claims.deviation import roundings

    known = gate_derivatives(pair, x)
    moved, (beta, top) = known.sensitivity, _beta_and_top(pair)
    found: dict[str, Any] = {
        "cases": 0, "active": 0, "sensitive": 0, "in_both": 0, "closest": 0.0,
        **{f"in_both_{name}": 0 for name in WRONG},
        "sensitivity_is_off_by": roundings(torch.cat(list(sensitivity(pair, x).values()), dim=1), moved),
    }  # fmt: skip
    for share in shares:
        active = known.gates > share * top
        size = share * top * (1 - share)
        by_theta = known.steepest[:, None]
        sensitive = moved > beta * size * by_theta
        both = active.any(dim=1) & sensitive.any(dim=1)
        found["cases"] += int(both.sum())
        found["active"] += int(active[both].sum())
        found["sensitive"] += int(sensitive[both].sum())
        found["in_both"] += int((active & sensitive).sum())
        nearest = (moved / (beta * size * by_theta)).masked_fill(~active, 0)
        found["closest"] = max(found["closest"], float(nearest.max()))
        thresholds = (ANY, size, size * by_theta, beta * size)
        for name, threshold in zip(WRONG, thresholds, strict=False):
            found[f"in_both_{name}"] += int((active & (moved > threshold)).sum())
    low = (known.gates > BELOW * top) & (moved > beta * BELOW * top * (1 - BELOW) * known.steepest[:, None])
    found["in_both_below_half"] = int(low.sum())
    return found | _paths(known, beta, top, shares)


def _beta_and_top(pair: "GatedNetwork") -> tuple[float, float]:
    """β and 1 + ε."""
    from penstock import Soft

    assert isinstance(pair.gate, Soft)
    return float(pair.gate.beta), 1 + float(pair.gate.epsilon)


def _paths(known: "GateDerivatives", beta: float, top: float, shares: tuple[float, ...]) -> dict[str, Any]:
    """Equation (6), and its terms on sensitive paths, in units of τ_S τ_A^(d-2)."""
    import torch

    from penstock.lab.claims.derivatives_of_gates import sensitive_paths, terms_of_paths

    least, counted, elsewhere, deviation = float("inf"), 0, 0, 0.0
    for gates, derivatives, steepest in zip(known.gates, known.by_parameter, known.steepest, strict=True):
        layers = gates.split(known.widths)
        terms = terms_of_paths(layers, derivatives.split(known.widths))
        deviation = max(deviation, _off_by(gates, derivatives, known.widths, terms.sum(dim=0)))
        sizes = terms.abs().amax(dim=-1)
        for share in shares:
            least_slope = beta * share * top * (1 - share) * steepest
            active = [layer > share * top for layer in layers]
            sensitive = (derivatives.abs().amax(dim=-1) > least_slope).split(known.widths)
            bound = least_slope * (share * top) ** (len(layers) - 1)
            anything = [torch.ones_like(layer) for layer in active]
            for place in range(len(layers)):
                on = sensitive_paths(active, sensitive, place)
                counted += int(on.sum())
                if on.any():
                    least = min(least, float((sizes[place][on] / bound).min()))
                off = sensitive_paths(anything, sensitive, place) & ~on
                elsewhere += int((sizes[place][off] <= bound).sum())
    return {
        "sensitive_paths": counted,
        "least_term": least,
        "terms_below_elsewhere": elsewhere,
        "equation_6_is_off_by": deviation,
    }


def _off_by(gates: "Tensor", derivatives: "Tensor", widths: tuple[int, ...], added: "Tensor") -> float:
    """Roundings between the sum of terms and the derivative of A(x, p) by torch."""
    from torch.func import jacrev

    from penstock.lab.claims.derivatives_of_gates import on_every_path
    from penstock.lab.claims.deviation import roundings

    by_gate: Tensor = jacrev(lambda every: on_every_path(every.split(widths)))(gates)
    return roundings(added, by_gate @ derivatives)


def _trained(settings: Settings, run: Run) -> dict[str, Any]:
    """Its gates over training, on test examples; `found` is what is judged, at a few of them."""
    import torch

    from penstock.lab.claims.derivatives_of_gates import gate_derivatives

    found, rows = [], []
    few = slice(0, settings.inputs)
    for epoch, pair, x in _over_training(settings, run):
        found.append(_look_at(pair, x[few], (settings.share,)))
        known, (beta, top) = gate_derivatives(pair, x), _beta_and_top(pair)
        threshold = beta * settings.share * top * (1 - settings.share) * known.steepest
        active = known.gates > settings.share * top
        sensitive = known.sensitivity > threshold[:, None]
        rows.append((known.gates, known.sensitivity / known.steepest[:, None], active, sensitive))
        run.journal.write(epoch=epoch, active=int(active.sum()), sensitive=int(sensitive.sum()))
    gates, relative, active, sensitive = (torch.stack(each) for each in zip(*rows, strict=True))
    shape = (len(settings.epochs), -1, 3, settings.width)
    return {
        "found": found,
        "epochs": torch.tensor(settings.epochs),
        "gates": gates.view(shape),
        "relative_sensitivity": relative.view(shape),
        "is_active": active.view(shape),
        "is_sensitive": sensitive.view(shape),
        "share": settings.share,
        "beta": settings.beta,
        "epsilon": settings.epsilon,
    }


def _over_training(settings: Settings, run: Run) -> "Iterator[tuple[int, GatedNetwork, Tensor]]":
    """A soft-GaLU pair at each of the epochs, and the test examples."""
    import torch

    from penstock import Soft, decouple
    from penstock.lab.data.binary import two_classes
    from penstock.lab.data.named import load_data
    from penstock.lab.models.fully_connected import relu_network
    from penstock.lab.models.initialization import Gaussian
    from penstock.lab.models.random_sizes import seeded
    from penstock.training.loop import train
    from penstock.training.member import Member
    from penstock.training.recipe import Recipe, RMSprop

    data = two_classes(load_data("digits"), 4, 7).flat().to(dtype=torch.float64)
    widths = (*data.shape, *[settings.width] * 3, 1)
    law, generator = Gaussian((2 / settings.width) ** 0.5), seeded(settings.seed, settings.networks)
    soft = Soft(settings.beta, settings.epsilon)
    pair = decouple(relu_network(widths, law, generator), soft, feature_gate=soft)
    pair.feature.load_state_dict(relu_network(widths, law, generator).state_dict())
    recipe = Recipe(max(settings.epochs), RMSprop(settings.rate), loss="mean squared", batch=8)
    members = [Member("soft-GaLU", pair, settings.seed)]
    (trained,) = train(
        members, data.train, data.test, recipe, snapshots=settings.epochs, progress=run.progress
    )
    for epoch in settings.epochs:
        pair.load_state_dict(trained.snapshots[epoch])
        yield epoch, pair, data.test.x


def judge(evidence: Evidence) -> Verdict:
    holds = (
        evidence["in_both"] == 0
        and evidence["cases"] >= LEAST
        and all(evidence[f"in_both_{name}"] > 0 for name in WRONG)
        and max(evidence["sensitivity_is_off_by"], evidence["equation_6_is_off_by"]) <= ALLOWED
        and evidence["sensitive_paths"] >= LEAST
        and evidence["least_term"] > 1
        and evidence["terms_below_elsewhere"] > 0
    )
    printed, unsigned, no_beta, no_dq, below = (evidence[f"in_both_{name}"] for name in WRONG)
    ours = (
        f"in {evidence['cases']} cases with {evidence['active']} active and {evidence['sensitive']} "
        f"sensitive gates none is both (the nearest at {evidence['closest']:.3f} τ_S); with the printed "
        f"τ_S > 0 {printed} are, with its slope's size {unsigned}, without β {no_beta}, without ∂q/∂θ "
        f"{no_dq}, with τ_A < (1+ε)/2 {below}; on {evidence['sensitive_paths']} sensitive paths a term is at "
        f"least {evidence['least_term']:.2f} τ_S τ_A^(d-2)"
    )
    return Verdict.when(holds, ours, "reproduced as corrected")


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.active_and_sensitive import draw_active_and_sensitive

    return draw_active_and_sensitive(evidence)


claim = Claim(
    id="D19",
    paper="D",
    place="Section 3.1, Equation (6)",
    kind="exact",
    says=(
        "No gate is both active (above τ_A) and sensitive (a parameter moves it by more than τ_S), for large "
        "enough thresholds; where one gate of a path is sensitive and the others are active, a term of the "
        "path's sensitivity exceeds τ_S τ_A^(d-2)."
    ),
    printed="disjoint for every τ_S > dχ(v)/dv at v = χ⁻¹(τ_A), which is -τ_A (1 - τ_A/(1+ε)), below 0",
    corrected=(
        "disjoint for τ_A ≥ (1+ε)/2 and τ_S ≥ β τ_A (1 - τ_A/(1+ε)) max|∂q/∂θ|, over all gates and all "
        "parameters, through the gating network"
    ),
    scales={
        "smoke": Scale(
            settings=Settings(),
            rule=(
                "Over random pairs (gating networks soft, hard or tied), and over a training: at the "
                f"corrected thresholds no gate is both, in {LEAST} cases of an input and a τ_A with gates of "
                f"either kind; some are both at τ_S = {ANY:g}, which is enough as printed, at the printed "
                f"slope without its sign, without β, without ∂q/∂θ, and with τ_A = {BELOW:g} (1+ε); the "
                "terms of Equation (6) add up to the derivative, and `sensitivity` is what is written out, "
                f"to rounding; on {LEAST} sensitive paths or more the sensitive gate's term exceeds "
                "τ_S τ_A^(d-2), and on others with a sensitive gate some do not."
            ),
            judge=judge,
        )
    },
    run=run,
    draw=draw,
)
