"""N Table 2: test accuracy of networks whose gates are random, learnt apart, learnt before or their own."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.claims.table_2 import LAPTOP, LEARNT, PAPER, RANDOM, REGIMES, ROWS, SMOKE, Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["claim"]

ALIKE = 0.5
"""Points within which the two columns of random gates are alike."""
FACTOR = 2.0
"""At laptop, how far from the paper's a gain over random gates may be."""
NEAR = {"mnist": 0.4, "cifar-10": 2.0}
"""At paper, how many points a mean may be from the printed one."""


def run(settings: Settings, run: Run) -> Evidence:
    import torch

    from penstock.lab.claims.regime_training import trained_row

    rows = [trained_row(name, settings, run) for name in run.progress(settings.rows, "rows of Table 2")]

    def column(what: str) -> torch.Tensor:
        """Rows × regimes, and runs where there is one number each."""
        return torch.stack(
            [torch.stack([torch.as_tensor(row[each][what]) for each in REGIMES]) for row in rows]
        )

    return {
        "rows": "; ".join(settings.rows),
        "data": "; ".join(settings.data or ROWS[name].data for name in settings.rows),
        "test": column("test"),
        "train": column("train"),
        "best_epoch": column("best_epoch"),
        "epochs": column("epochs"),
        "seconds": column("seconds"),
        "diverged": int(column("diverged").sum()),
    }


def judge_order(evidence: Evidence) -> Verdict:
    """By order alone."""
    return Verdict.when(_in_order(evidence), _ours(evidence))


def judge_shape(evidence: Evidence) -> Verdict:
    """By order, and the size of what learnt gates gain."""
    if not _in_order(evidence):
        return Verdict("not reproduced", _ours(evidence))
    shaped = True
    for name, means in _rows(evidence):
        gains, printed = (_gains(row) for row in (means, ROWS[name].printed))
        near = [1 / FACTOR <= gain / paper <= FACTOR for gain, paper in zip(gains, printed, strict=True)]
        shaped = shaped and all(near) and abs(means[1] - means[0]) <= ALIKE
    return Verdict("reproduced" if shaped else "direction only", _ours(evidence))


def judge_numbers(evidence: Evidence) -> Verdict:
    """By the numbers printed."""
    if not _in_order(evidence):
        return Verdict("not reproduced", _ours(evidence))
    near = all(
        abs(mean - printed) <= NEAR[ROWS[name].data]
        for name, means in _rows(evidence)
        for mean, printed in zip(means, ROWS[name].printed, strict=True)
    )
    return Verdict("reproduced" if near else "direction only", _ours(evidence))


def _in_order(evidence: Evidence) -> bool:
    """No run diverged, and each column of learnt gates is above both of random gates."""
    random = len(RANDOM)
    return evidence["diverged"] == 0 and all(
        min(means[random:]) > max(means[:random]) for _, means in _rows(evidence)
    )


def _rows(evidence: Evidence) -> list[tuple[str, list[float]]]:
    """Each row's name and its means over runs."""
    return list(zip(evidence["rows"].split("; "), evidence["test"].mean(dim=2).tolist(), strict=True))


def _gains(means: Sequence[float]) -> list[float]:
    """What each column of learnt gates has more than FRNPF-II."""
    return [mean - means[0] for mean in means[len(RANDOM) :]]


def _ours(evidence: Evidence) -> str:
    spreads, trains = evidence["test"].std(dim=2).tolist(), evidence["train"].mean(dim=2).tolist()
    told = []
    for (name, means), spread, train in zip(_rows(evidence), spreads, trains, strict=True):
        columns = ", ".join(
            f"{regime.upper() if regime != 'relu' else 'ReLU'} {mean:.2f} ± {around:.2f}"
            for regime, mean, around in zip(REGIMES, means, spread, strict=True)
        )
        told.append(f"{ROWS[name].title}: {columns} (on training data {min(train):.1f} % and more)")
    gone = f"; {evidence['diverged']} runs diverged" if evidence["diverged"] else ""
    return "; ".join(told) + gone


def draw(evidence: Evidence) -> "Figure":
    from penstock.lab.report.regimes import draw_regimes

    return draw_regimes(evidence)


_LEARNT = ", ".join("ReLU" if each == "relu" else each.upper() for each in LEARNT)
_ORDER = f"no run diverges, and the mean best test accuracy of each of {_LEARNT} is above that of both FRNPF"

claim = Claim(
    id="N16",
    paper="N",
    place="Table 2",
    kind="figure",
    says=(
        "Networks whose gates are learnt (ReLU's own, those of a trained ReLU network, or a second "
        "network's) generalise better than networks with random gates; here the row FC with Adam."
    ),
    printed=(
        "FC, Adam: FRNPF-II 96.02 ± 0.13, FRNPF-DI 96.09 ± 0.12, DLNPF 98.22 ± 0.05, FLNPF 97.82 ± 0.02, "
        "ReLU 98.14 ± 0.07"
    ),
    scales={
        "smoke": Scale(
            settings=SMOKE,
            rule=f"On digits, in every row: {_ORDER}.",
            judge=judge_order,
        ),
        "laptop": Scale(
            settings=LAPTOP,
            rule=(
                f"In every row: {_ORDER}; then it is direction only, unless what they gain over FRNPF-II is "
                f"between 1/{FACTOR:g} and {FACTOR:g} times what they gain in the paper and the two FRNPF "
                f"differ by at most {ALIKE} points."
            ),
            judge=judge_shape,
        ),
        "paper": Scale(
            settings=PAPER,
            rule=(
                f"In every row: {_ORDER}; then it is direction only, unless all means are within "
                f"{NEAR['mnist']} points of the printed ones on MNIST and {NEAR['cifar-10']:g} on CIFAR-10."
            ),
            judge=judge_numbers,
        ),
    },
    run=run,
    draw=draw,
)
