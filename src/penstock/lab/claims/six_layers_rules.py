"""How D Experiments 3 to 5 are judged: which of two networks generalises better, by runs of one seed."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from penstock.lab.claims.claim import Evidence, Verdict
from penstock.lab.claims.paired import Interval, mean_of
from penstock.lab.claims.six_layers import FITTED, LAST_EPOCHS

__all__ = ["accuracies", "by_generalisation", "by_order", "gains", "rest", "settled"]

Pairs = Sequence[tuple[int, int]]
"""Of the networks, which is to be better than which."""


def by_order(evidence: Evidence, pairs: Pairs, ours: str) -> Verdict:
    """By the means alone."""
    return Verdict.when(_in_order(evidence, pairs), ours)


def by_generalisation(evidence: Evidence, pairs: Pairs, ours: str) -> Verdict:
    """`direction only` where the order is not sure, or comes from examples that are not fitted."""
    if not _in_order(evidence, pairs):
        return Verdict("not reproduced", ours)
    sure = all(gain.low > 0 for gain in gains(evidence, pairs))
    fitted = bool((settled(evidence["train"]).mean(dim=1) >= FITTED).all())
    return Verdict("reproduced" if sure and fitted else "direction only", ours)


def gains(evidence: Evidence, pairs: Pairs) -> list[Interval]:
    """By how many points the test accuracy of one is above the other's, with 95 % intervals."""
    test = settled(evidence["test"])
    return [mean_of(test[better] - test[worse]) for better, worse in pairs]


def settled(curves: Float[Tensor, "*runs epochs"]) -> Float[Tensor, "*runs"]:
    """The mean over the last epochs."""
    last = max(1, round(LAST_EPOCHS * curves.shape[-1]))
    return curves[..., -last:].mean(-1)


def accuracies(evidence: Evidence) -> list[str]:
    """Each network's test accuracy in percent, mean and standard deviation over its runs."""
    test = settled(evidence["test"])
    return [
        f"{float(mean):.2f} ± {float(spread):.2f}"
        for mean, spread in zip(test.mean(dim=1), test.std(dim=1), strict=True)
    ]


def rest(evidence: Evidence) -> str:
    """How the training examples were fitted, and by how many not at all."""
    fitted = f"on training data {float(settled(evidence['train']).mean(dim=1).min()):.1f} % and more"
    return fitted + (f"; {evidence['diverged']} runs diverged" if evidence["diverged"] else "")


def _in_order(evidence: Evidence, pairs: Pairs) -> bool:
    return evidence["diverged"] == 0 and all(gain.center > 0 for gain in gains(evidence, pairs))
