"""What a claim is: the paper's words in ours, settings and a rule of judgement at each scale, the run, the
picture.

A claim's file imports torch and matplotlib inside `run` and `draw` only, so that a list of claims costs
nothing."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, get_args, runtime_checkable

from penstock.errors import PenstockError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["NOT_RUN", "PAPERS", "SCALES", "WORDS", "Claim", "Evidence", "Run", "Scale", "Verdict"]

Word = Literal["reproduced", "reproduced as corrected", "direction only", "not reproduced"]
ScaleName = Literal["smoke", "laptop", "paper"]
Kind = Literal["exact", "limit", "figure", "exact/limit", "exact/figure", "beyond"]

WORDS: tuple[Word, ...] = get_args(Word)
NOT_RUN = "not run"
SCALES: tuple[str, ...] = get_args(ScaleName)
KINDS: tuple[Kind, ...] = get_args(Kind)
PAPERS = {
    "N": "Neural Path Features and Neural Path Kernel",
    "D": "Deep Gated Networks",
    "R": "The Neural Race Reduction",
    "L": "Luck Matters",
    "B": "beyond the papers",
}

# What `penstock reproduce` itself takes: a claim's setting by such a name could not be told from it.
RESERVED = frozenset(
    {"claims", "scale", "device", "runs", "fresh", "data_dir", "json", "debug", "help", "version"}
)

Evidence = Mapping[str, Any]
"""What a run found: a flat mapping of names to numbers, strings or tensors."""

S = TypeVar("S")


@runtime_checkable
class Journal(Protocol):
    """Where a run writes its metrics as they come."""

    def write(self, **metrics: Any) -> None:
        """Append one line of numbers and words: `journal.write(step=10, loss=0.3)`. It is there after a
        crash."""
        ...


@runtime_checkable
class Run(Protocol):
    """What a claim's `run` is given: where to write, what to compute on, how to be interrupted without
    loss."""

    @property
    def journal(self) -> Journal: ...

    @property
    def device(self) -> str:
        """The torch device that was asked for, `"cpu"` unless told."""
        ...

    @property
    def data(self) -> Path:
        """The folder of downloaded data."""
        ...

    def part(self, name: str, compute: Callable[[], Evidence]) -> Evidence:
        """What `compute()` gives, kept in the run's folder under `name`: after a crash it is read, not
        computed again.

        A part draws its random numbers from a seed of its own, never from what an earlier part left behind.
        """
        ...

    def folder(self, name: str) -> Path:
        """A folder of the run's own for what it takes to go on in the middle of long work, such as
        `train(…, checkpoint=run.folder("relu"))`; the same one after a crash.

        It is removed with all that is in it when the part in which it was asked for, or else the run, is
        finished: what is to stay is evidence."""
        ...

    def found_by(self, claim: "Claim[Any]", settings: Any) -> Evidence:
        """What another claim found at this run's scale, with these settings: its run in its own folder, found
        done or gone on with or else done now, and judged by its own rule.

        A claim asks so for trainings that it shares with another one, in place of doing them again."""
        ...

    def progress(self, steps: Iterable[Any], what: str, total: int | None = None) -> Iterator[Any]:
        """The same steps, with a bar that shows rate and time left (off a terminal a plain line now and
        then)."""
        ...


@dataclass(frozen=True)
class Verdict:
    """What the rule of judgement says of the evidence: a word, and what was found here in one line."""

    word: str
    ours: str

    def __post_init__(self) -> None:
        if self.word not in WORDS:
            raise PenstockError(
                f"{self.word!r} is no verdict; a rule of judgement says one of: {', '.join(WORDS)}"
            )
        if "\n" in self.ours or "\t" in self.ours:
            raise PenstockError(f"what was found is one line without tabs, and this is more: {self.ours!r}")

    @classmethod
    def when(cls, holds: bool, ours: str, word: str = "reproduced") -> "Verdict":
        """`word` where the rule holds, `not reproduced` where it does not."""
        return cls(word if holds else "not reproduced", ours)


@dataclass(frozen=True)
class Scale(Generic[S]):
    """A size at which a claim is run, with the rule that judges it there, written before the run."""

    settings: S
    rule: str
    judge: Callable[[Evidence], Verdict]


@dataclass(frozen=True)
class Claim(Generic[S]):
    """One table, figure or theorem of a paper, and how it is re-derived.

    `says` is the claim in our own words, `printed` the paper's figure or formula where there is one to set
    beside ours, `corrected` what is judged where the paper is wrong as printed. `settings` of a scale is a
    frozen dataclass whose fields carry their help text in a docstring below each; seeds are settings."""

    id: str
    paper: str
    place: str
    kind: Kind
    says: str
    scales: Mapping[str, Scale[S]]
    run: Callable[[S, Run], Evidence]
    printed: str | None = None
    corrected: str | None = None
    draw: "Callable[[Evidence], Figure] | None" = None

    def __post_init__(self) -> None:
        if not re.fullmatch("[" + "".join(PAPERS) + r"][1-9]\d*", self.id) or self.paper != self.id[0]:
            raise PenstockError(
                f"a claim's id is its paper's letter and a number, such as N2, not {self.id!r} of "
                f"{self.paper!r}"
            )
        if self.kind not in KINDS:
            raise PenstockError(
                f"the claim {self.id} is of kind {self.kind!r}; the kinds are {', '.join(KINDS)}"
            )
        unknown = [name for name in self.scales if name not in SCALES]
        if unknown or not self.scales:
            raise PenstockError(
                f"the claim {self.id} needs at least one scale of {', '.join(SCALES)}, and no other"
            )
        for name, scale in self.scales.items():
            self._check_settings(name, scale.settings)

    def _check_settings(self, scale: str, settings: Any) -> None:
        parameters = getattr(type(settings), "__dataclass_params__", None)
        if parameters is None or not parameters.frozen:
            raise PenstockError(
                f"the settings of {self.id} at {scale} are to be a frozen dataclass, not {settings!r}"
            )
        taken = sorted(RESERVED & {field.name for field in dataclasses.fields(settings)})
        if taken:
            raise PenstockError(
                f"the claim {self.id} has a setting called {taken[0]!r}, which `penstock reproduce` "
                f"keeps for itself"
            )

    def scale_for(self, asked: str) -> str:
        """The scale that is run where `asked` is asked for: itself, else the largest below it, else the
        smallest."""
        has = [name for name in SCALES if name in self.scales]
        below = [name for name in has if SCALES.index(name) <= SCALES.index(asked)]
        return below[-1] if below else has[0]

    def is_reduced(self, scale: str) -> bool:
        """Whether the claim has a larger scale than this one; a figure at a reduced scale says so wherever
        it is shown."""
        return any(SCALES.index(name) > SCALES.index(scale) for name in self.scales)

    def judge(self, scale: str, evidence: Evidence) -> Verdict:
        """The verdict of this scale's rule; where the paper is corrected, what holds is `reproduced as
        corrected`."""
        verdict = self.scales[scale].judge(evidence)
        if (verdict.word == "reproduced") == bool(self.corrected) and verdict.word.startswith("reproduced"):
            has = "has a" if self.corrected else "has no"
            raise PenstockError(
                f"the rule of {self.id} at {scale} says {verdict.word!r}, but the claim {has} correction"
            )
        if verdict.word == "direction only" and scale == "smoke":
            raise PenstockError(
                f"the rule of {self.id} at smoke says 'direction only', which is for laptop and paper"
            )
        return verdict
