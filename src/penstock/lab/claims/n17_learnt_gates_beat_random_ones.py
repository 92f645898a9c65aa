"""N Section 6.2, item 1: which random gates does not matter, and learnt ones are better; from N16's runs."""

from typing import TYPE_CHECKING

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.table_2 import LAPTOP, PAPER, REGIMES, ROWS, SMOKE, Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch import Tensor

__all__ = ["claim", "differences"]

ALIKE = 0.5
"""Points within which two columns are the same."""
NEAR = 1.0
"""The same for FLNPF and ReLU, where the paper's own differ by 0.4 and 0.6."""
PAIRS = {
    "di": ("frnpf-di", "frnpf-ii"),
    "learnt_ii": ("dlnpf", "frnpf-ii"),
    "learnt_di": ("dlnpf", "frnpf-di"),
    "before": ("flnpf", "relu"),
}
"""The differences that are looked at: the first of each less the second."""


def run(settings: Settings, run: Run) -> Evidence:
    from penstock.lab.claims.n16_learnt_gates_generalise_better import claim as table

    return differences(run.found_by(table, settings))


def differences(found: Evidence) -> Evidence:
    """Of N16's evidence, every pair's."""
    import torch

    from penstock.lab.claims.paired import mean_of

    test = dict(zip(REGIMES, found["test"].unbind(dim=1), strict=True))
    evidence: dict[str, object] = {name: found[name] for name in ("rows", "data", "diverged")}
    for name, (one, other) in PAIRS.items():
        rows = test[one] - test[other]
        wide, narrow = ([mean_of(row, level) for row in rows] for level in (0.95, 0.90))
        evidence |= {
            f"{name}_differences": rows,
            f"{name}_means": rows.mean(dim=1),
            f"{name}_half_widths": torch.tensor([each.half_width for each in wide], dtype=torch.float64),
            # inside the margin: both one-sided tests of 5 % reject
            f"{name}_half_widths_of_90": torch.tensor(
                [each.half_width for each in narrow], dtype=torch.float64
            ),
        }
    return evidence


def judge_sign(evidence: Evidence) -> Verdict:
    """That learnt gates are better, and nothing else."""
    return Verdict.when(evidence["diverged"] == 0 and _learnt_are_better(evidence), _ours(evidence))


def judge_both(evidence: Evidence) -> Verdict:
    """That too, and that random ones are all alike."""
    if evidence["diverged"] or not _learnt_are_better(evidence):
        return Verdict("not reproduced", _ours(evidence))
    alike = _within(evidence, "di", ALIKE).all()
    pooled = [name.startswith("gconv") for name in evidence["rows"].split("; ")]
    recovered = _within(evidence, "before", NEAR)[pooled].all()
    return Verdict("reproduced" if bool(alike) and bool(recovered) else "direction only", _ours(evidence))


def _learnt_are_better(evidence: Evidence) -> bool:
    return all(
        bool((evidence[f"{name}_means"] > evidence[f"{name}_half_widths"]).all())
        for name in ("learnt_ii", "learnt_di")
    )


def _within(evidence: Evidence, name: str, margin: float) -> "Tensor":
    return evidence[f"{name}_means"].abs() + evidence[f"{name}_half_widths_of_90"] <= margin


def _ours(evidence: Evidence) -> str:
    def told(place: int, name: str, of: str) -> str:
        mean, around = (float(evidence[f"{name}_{what}"][place]) for what in ("means", f"half_widths{of}"))
        return f"{mean:+.2f} ± {around:.2f}"

    return "; ".join(
        f"{ROWS[row].title}: FRNPF-DI - FRNPF-II {told(place, 'di', '_of_90')} (90 %), DLNPF - FRNPF-II "
        f"{told(place, 'learnt_ii', '')}, DLNPF - FRNPF-DI {told(place, 'learnt_di', '')}, FLNPF - ReLU "
        f"{told(place, 'before', '')} (95 %)"
        for place, row in enumerate(evidence["rows"].split("; "))
    )


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.regime_differences import draw_differences

    return draw_differences(evidence, PAIRS, ALIKE)


_BETTER = (
    "From N16's runs, paired by seed: no run diverges, and in every row the 95 % intervals of DLNPF - "
    "FRNPF-II and DLNPF - FRNPF-DI are above zero"
)
_BOTH = (
    f"{_BETTER}; then it is direction only, unless the 90 % interval of FRNPF-DI - FRNPF-II is within "
    f"±{ALIKE} points (two one-sided tests of 5 %), and for GCONV that of FLNPF - ReLU within ±{NEAR:g}."
)

claim = Claim(
    id="N17",
    paper="N",
    place="Table 2, Section 6.2",
    kind="figure",
    says=(
        "Random gates serve equally well whether the values start as the same weights or as independent "
        "ones; gates learnt by a network of their own serve better; for GCONV those of a trained network "
        "serve as well as ReLU's."
    ),
    printed="FC, Adam: FRNPF-DI - FRNPF-II +0.07, DLNPF - FRNPF-II +2.20, FLNPF - ReLU -0.32",
    scales={
        "smoke": Scale(
            settings=SMOKE,
            rule=f"{_BETTER}.",
            judge=judge_sign,
        ),
        "laptop": Scale(settings=LAPTOP, rule=_BOTH, judge=judge_both),
        "paper": Scale(settings=PAPER, rule=_BOTH, judge=judge_both),
    },
    run=run,
    draw=draw,
)
