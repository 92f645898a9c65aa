"""N Definition 3.3 and Proposition 3.2: gates switch at instants, and between them features stand still."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.least import check_least, check_positive

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from penstock.lab.claims.descent import Descent

__all__ = ["claim"]

JUMP = 100
"""By how many times what it drifts in a stretch as long K must change at a jump, at least."""
STILL = 3
"""And at most where it does not jump."""
FOURFOLD = (3.6, 4.4)
"""By how much the gap of a first-order prediction falls when the step is halved."""
TWOFOLD = (1.8, 2.2)
"""By how much a continuous change does."""


@dataclass(frozen=True)
class Settings:
    small_seeds: tuple[int, ...] = (226,)
    """Weights, inputs and targets of each network 2-3-3-1; the first is drawn."""
    larger_seeds: tuple[int, ...] = (41,)
    """The same of each network 3-5-4-1."""
    examples: int = 5
    """Inputs of each network."""
    steps: int = 120
    """Steps of gradient descent on half the sum of squared errors."""
    rate: float = 0.01
    """How long a step is."""

    def __post_init__(self):
        check_least(self, examples=1, steps=4)
        check_positive(self, "rate")
        if not self.larger_seeds:
            check_least(self, small_seeds=1)


def run(settings: Settings, run: Run) -> Evidence:
    import torch

    from penstock.lab.claims.descent import Descent
    from penstock.lab.models.fully_connected import relu_network
    from penstock.lab.models.initialization import Gaussian

    drawn: dict[str, Any] = {}
    rows = []
    networks = [((2, 3, 3, 1), seed) for seed in settings.small_seeds]
    networks += [((3, 5, 4, 1), seed) for seed in settings.larger_seeds]
    for widths, seed in run.progress(networks, "networks", len(networks)):
        generator = torch.Generator().manual_seed(seed)
        model = relu_network(widths, Gaussian(0.8), generator)
        x = torch.randn(settings.examples, widths[0], generator=generator, dtype=torch.float64)
        y = torch.randn(settings.examples, 1, generator=generator, dtype=torch.float64)
        descent = Descent(model, x, y, steps=settings.steps, rate=settings.rate)
        rows.append(_asked(descent))
        drawn = drawn or _curves(descent)
        run.journal.write(widths="-".join(map(str, widths)), seed=seed, flips=len(descent.flips))
    columns = {
        name: torch.cat([torch.atleast_1d(torch.as_tensor(row[name])) for row in rows]) for name in rows[0]
    }
    return {**columns, **drawn}


def _asked(descent: "Descent") -> dict[str, Any]:
    """What the claim says of one network."""
    import torch

    from penstock.lab.claims.descent import value_step

    def change(start: float, end: float) -> float:
        return float((descent.kernel(end) - descent.kernel(start)).abs().max())

    instants = descent.instants
    flipping = {int(one.before) for one in instants}
    quiet = [float(step) for step in range(descent.steps) if step not in flipping]
    at = torch.arange(0.0, descent.steps, descent.steps / 4).tolist()
    whole, half = ([value_step(descent, time, descent.rate * share) for time in at] for share in (1.0, 0.5))
    return {
        "flips": len(descent.flips),
        "changes": torch.tensor([instant.changes_npf for instant in instants]),
        "kernel_moves": torch.tensor([change(one.before, one.after) for one in instants]),
        # as long a stretch, just before
        "kernel_drifts": torch.tensor([change(2 * one.before - one.after, one.before) for one in instants]),
        "features_move": torch.tensor(
            [bool((descent.features(one.before) != descent.features(one.after)).any()) for one in instants]
        ),
        "features_move_between": _moves_between(descent),
        "halved": max(change(step, step + 1) for step in quiet)
        / max(change(step, step + 0.5) for step in quiet),
        "gap_falls": torch.tensor([a.gap / b.gap for a, b in zip(whole, half, strict=True)]),
        "gap_falls_without_first_layer": torch.tensor(
            [a.gap_without_first_layer / b.gap_without_first_layer for a, b in zip(whole, half, strict=True)]
        ),
    }


def _moves_between(descent: "Descent") -> int:
    """At how many of the times looked at between two instants the features are others than just after the
    first.
    """
    moved = 0
    edges = [
        0.0,
        *(time for one in descent.instants for time in (one.before, one.after)),
        float(descent.steps),
    ]
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        still = descent.features(start)
        times = [float(step) for step in range(0, descent.steps, 2) if start < step < end]
        moved += sum(bool((descent.features(time) != still).any()) for time in (*times, end))
    return moved


def _curves(descent: "Descent") -> dict[str, Any]:
    """For the picture: K's diagonal at every step and on both sides of every instant."""
    import torch

    edges = {time for one in descent.instants for time in (one.before, one.after)}
    times = sorted(edges | set(map(float, range(descent.steps + 1))))
    return {
        "times": torch.tensor(times, dtype=torch.float64),
        "kernels": torch.stack([descent.kernel(time).diagonal() for time in times]),
        "instants": torch.tensor([one.after for one in descent.instants], dtype=torch.float64),
        "instants_change": torch.tensor([one.changes_npf for one in descent.instants]),
    }


def judge(evidence: Evidence) -> Verdict:
    changes, moves = evidence["changes"], evidence["features_move"]
    times_drift = evidence["kernel_moves"] / evidence["kernel_drifts"]
    jumps, stands = times_drift[changes], times_drift[~changes]
    falls, without = evidence["gap_falls"], evidence["gap_falls_without_first_layer"]
    halved = evidence["halved"]
    holds = (
        len(jumps) > 0
        and len(stands) > 0
        and bool((changes == moves).all())
        and int(evidence["features_move_between"].sum()) == 0
        and bool((jumps >= JUMP).all())
        and bool((stands <= STILL).all())
        and bool(((halved >= TWOFOLD[0]) & (halved <= TWOFOLD[1])).all())
        and bool(((falls >= FOURFOLD[0]) & (falls <= FOURFOLD[1])).all())
        and not bool((without >= FOURFOLD[0]).any())
    )
    ours = (
        f"{int(evidence['flips'].sum())} flips at {len(changes)} instants: at {len(jumps)} features change "
        f"and K jumps by {float(jumps.min()) if len(jumps) else 0:.0f} times its drift or more, at "
        f"{len(stands)} neither ({float(stands.max()) if len(stands) else 0:.2f} times); the gap to ⟨φ_p, "
        f"Θ̇⟩ falls {float(falls.min()):.2f}- to {float(falls.max()):.2f}-fold when a step is halved"
    )
    return Verdict.when(holds, ours)


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.instants import draw_instants

    return draw_instants(evidence)


claim = Claim(
    id="N6",
    paper="N",
    place="Definition 3.3, Proposition 3.2",
    kind="exact",
    says=(
        "Gates switch at single instants. Between two of them path features stand still, K moves "
        "continuously, and the value of a path moves by the inner product of its gradient and the movement "
        "of the weights. K jumps at an instant if a feature changes there, and only then."
    ),
    printed="v̇(p) = ⟨φ_p, Θ̇⟩ and K_t = Φᵀ_{T_i} V_t Φ_{T_i} for t in [T_i, T_{i+1})",
    scales={
        "smoke": Scale(
            settings=Settings(),
            rule=(
                "Of networks 2-3-3-1 and 3-5-4-1 that descend: listed features differ across an instant, a "
                "millionth of a step wide, if and only if it is marked so, and nowhere else; there K "
                f"changes at least {JUMP} times as much as in as long a stretch before, at the others at "
                f"most {STILL} times (each kind occurs); without a flip half a step changes K half as much "
                "(to a tenth); the gap of path values to ⟨φ_p, Θ̇⟩ falls fourfold when the step is halved "
                "(to a tenth), and no 3.6-fold with the first layer left out."
            ),
            judge=judge,
        )
    },
    run=run,
    draw=draw,
)
