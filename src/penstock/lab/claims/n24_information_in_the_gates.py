"""N Section 6.2, item 3: how much of what learning gates gains is in the gates alone; from N16's runs."""

from typing import TYPE_CHECKING

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.table_2 import LAPTOP, PAPER, REGIMES, ROWS, SMOKE, Row, Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch import Tensor

__all__ = ["claim", "printed_share", "shares"]

WORD = "reproduced as corrected"
NEAR = {"laptop": 0.15, "paper": 0.1}
"""How far from the share of the paper's table ours may be."""
MOST = 0.5


def printed_share(row: Row) -> float:
    """(FLNPF - FRNPF-II) / (ReLU - FRNPF-II) of the paper's table."""
    column = dict(zip(REGIMES, row.printed, strict=True))
    return (column["flnpf"] - column["frnpf-ii"]) / (column["relu"] - column["frnpf-ii"])


def run(settings: Settings, run: Run) -> Evidence:
    from penstock.lab.claims.n16_learnt_gates_generalise_better import claim as table

    return shares(run.found_by(table, settings))


def shares(found: Evidence) -> Evidence:
    """Of N16's evidence, every row's."""
    import torch

    from penstock.lab.claims.paired import mean_of, ratio_of

    rows = found["rows"].split("; ")
    test = dict(zip(REGIMES, found["test"].unbind(dim=1), strict=True))
    kept, gained = (test[name] - test["frnpf-ii"] for name in ("flnpf", "relu"))
    share = [ratio_of(part, whole) for part, whole in zip(kept, gained, strict=True)]
    return {
        **{name: found[name] for name in ("rows", "data", "diverged")},
        "gained": gained,
        "kept": kept,
        "gained_at_least": torch.tensor([mean_of(row).low for row in gained], dtype=torch.float64),
        "share": torch.tensor([each.center for each in share], dtype=torch.float64),
        "half_width": torch.tensor([each.half_width for each in share], dtype=torch.float64),
        "printed": torch.tensor([printed_share(ROWS[name]) for name in rows], dtype=torch.float64),
    }


def judge_sign(evidence: Evidence) -> Verdict:
    """That there is anything in the gates."""
    holds = _gained(evidence) and bool((_low(evidence) > 0).all())
    return Verdict.when(holds, _ours(evidence), WORD)


def judge_laptop(evidence: Evidence) -> Verdict:
    return _judge(evidence, NEAR["laptop"])


def judge_paper(evidence: Evidence) -> Verdict:
    return _judge(evidence, NEAR["paper"])


def _judge(evidence: Evidence, near: float) -> Verdict:
    if not _gained(evidence) or not bool((_low(evidence) > 0).all()):
        return Verdict("not reproduced", _ours(evidence))
    if bool(((evidence["share"] - evidence["printed"]).abs() <= near).all()):
        return Verdict(WORD, _ours(evidence))
    most = bool((_low(evidence) > MOST).all())
    return Verdict("direction only" if most else "not reproduced", _ours(evidence))


def _gained(evidence: Evidence) -> bool:
    """Whether there is something to have a share of."""
    return evidence["diverged"] == 0 and bool((evidence["gained_at_least"] > 0).all())


def _low(evidence: Evidence) -> "Tensor":
    return evidence["share"] - evidence["half_width"]


def _ours(evidence: Evidence) -> str:
    numbers = zip(
        evidence["rows"].split("; "),
        *(evidence[name].tolist() for name in ("share", "half_width", "printed")),
        strict=True,
    )
    return "; ".join(
        f"{ROWS[name].title}: {share:.2f} ± {around:.2f} (95 %), and {printed:.2f} in the paper's table"
        for name, share, around, printed in numbers
    )


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.gate_shares import draw_shares

    return draw_shares(evidence)


_SHARE = (
    "From N16's runs, paired by seed: in every row the 95 % interval of ReLU - FRNPF-II is above zero, and "
    "so is that of the share (FLNPF - FRNPF-II) / (ReLU - FRNPF-II)"
)


def _rule(scale: str) -> str:
    return (
        f"{_SHARE}, which is within {NEAR[scale]} of that in the paper's table; where it is not, it is "
        f"direction only if the interval is above {MOST}."
    )


claim = Claim(
    id="N24",
    paper="N",
    place="Section 6.2",
    kind="figure",
    says=(
        "Of what a network gains by learning its gates, a new value network on the learnt gates keeps a "
        "share: nearly all for convolutional networks with global pooling, less for others."
    ),
    printed="almost all useful information is stored in the gates",
    corrected=(
        "the share that the paper's own table gives: 0.63 and 0.85 for FC (SGD, Adam), 0.51 and 0.86 for "
        "VCONV, 0.97 and 0.95 for GCONV"
    ),
    scales={
        "smoke": Scale(
            settings=SMOKE,
            rule=f"{_SHARE}.",
            judge=judge_sign,
        ),
        "laptop": Scale(settings=LAPTOP, rule=_rule("laptop"), judge=judge_laptop),
        "paper": Scale(settings=PAPER, rule=_rule("paper"), judge=judge_paper),
    },
    run=run,
    draw=draw,
)
