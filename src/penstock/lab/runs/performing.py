"""Doing a run: found done, gone on with, or begun; the lock, the evidence, the verdict."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.errors import PenstockError
from penstock.files import make_folder
from penstock.lab.claims.claim import Claim, Evidence, Verdict
from penstock.lab.runs.evidence import Damaged, read_evidence, write_evidence
from penstock.lab.runs.folder import RunFolder
from penstock.lab.runs.journal import Journal
from penstock.lab.runs.naming import identity
from penstock.lab.runs.places import data_folder, runs_folder
from penstock.lab.runs.progress import Progress
from penstock.lab.runs.shelf import Shelf
from penstock.lab.runs.surroundings import machine, versions

__all__ = ["Bench", "Outcome", "perform"]


def _silent(_: str) -> None:
    """Says nothing."""


@dataclass(frozen=True)
class Bench:
    """Where runs are made: their folder, the data, the device, and who is told."""

    root: Path = field(default_factory=runs_folder)
    data: Path | None = None
    device: str = "cpu"
    say: Callable[[str], None] = _silent
    progress: Progress = field(default_factory=Progress)


@dataclass(frozen=True)
class Outcome:
    """A run that is finished: its folder, the evidence, the verdict."""

    folder: RunFolder
    evidence: Evidence
    verdict: Verdict
    found: bool
    """Whether it was there already."""


def perform(claim: Claim[Any], scale: str, settings: Any, bench: Bench, *, fresh: bool = False) -> Outcome:
    """The run of `claim` at `scale` with `settings`: the one that is there, or else a new one.

    A run that was stopped is gone on with. `fresh` begins anew, and the old run stays until the new one is
    finished."""
    shelf = Shelf(bench.root, identity(claim, scale, settings))
    if not fresh and shelf.run.finished and not shelf.is_disturbed:
        try:
            return _found(claim, shelf)
        except PenstockError:
            pass  # perhaps because another process is just replacing it: looked at again with the lock held
    with shelf.exclusive(lambda holder: bench.say(_waiting(shelf, holder))):
        shelf.recover()
        folder = _choose(shelf, bench, fresh)
        if folder.finished:
            return _found(claim, shelf)
        verdict, evidence = _carry_out(claim, scale, settings, folder, bench)
        if folder is shelf.over:
            shelf.take_over()
        return Outcome(shelf.run, evidence, verdict, found=False)


def _choose(shelf: Shelf, bench: Bench, fresh: bool) -> RunFolder:
    """The folder to work in."""
    there = shelf.run.path.exists()
    if there and not shelf.run.is_a_run:
        shelf.run.about()  # not ours: refused, and never replaced
    if fresh and (there or shelf.over.path.exists()):
        shelf.start_over(bench.device)
        return shelf.over
    if not fresh and shelf.over.path.exists():
        shelf.over.about()
        bench.say(f"going on with {shelf.name}, which was being done over when it was stopped")
        return shelf.over
    if there:
        shelf.run.about()
        if not shelf.run.finished:
            bench.say(f"going on with {shelf.name}, which was stopped before its end")
        return shelf.run
    shelf.make(shelf.run, bench.device)
    return shelf.run


def _found(claim: Claim[Any], shelf: Shelf) -> Outcome:
    """A finished run, wherever it was made: checked to the last bit, and judged again from its evidence."""
    folder = shelf.run
    folder.about()
    folder.check()
    try:
        evidence = read_evidence(folder.evidence)
        verdict = claim.judge(shelf.identity["scale"], evidence)
    except (Damaged, LookupError, TypeError, ValueError) as error:
        raise folder.damaged(f"its evidence does not fit: {error}") from error
    if verdict.word != folder.verdict().word:
        raise folder.damaged(f"it says {folder.verdict().word!r}, and its evidence makes {verdict.word!r}")
    return Outcome(folder, evidence, folder.verdict(), found=True)


def _carry_out(
    claim: Claim[Any], scale: str, settings: Any, folder: RunFolder, bench: Bench
) -> tuple[Verdict, dict[str, Any]]:
    begun = time.monotonic()
    folder.sweep()
    try:
        if not folder.evidence.exists():
            _compute(claim, scale, settings, folder, bench)
        folder.drop_kept()
        # judged as it will be read later, so that a verdict and its evidence cannot part
        evidence = read_evidence(folder.evidence)
    except Damaged as error:
        raise folder.damaged(error) from error
    verdict = claim.judge(scale, evidence)
    folder.conclude(verdict, time.monotonic() - begun)
    return verdict, evidence


def _compute(claim: Claim[Any], scale: str, settings: Any, folder: RunFolder, bench: Bench) -> None:
    journal = Journal(folder.journal, {"versions": versions(), "machine": machine(bench.device)})
    try:
        evidence = claim.run(settings, OpenRun(folder, journal, bench, scale))
        write_evidence(folder.evidence, evidence)
    finally:
        journal.close()


class OpenRun:
    """What a claim's `run` is given while its folder is open: `lab.claims.claim.Run`."""

    def __init__(self, folder: RunFolder, journal: Journal, bench: Bench, scale: str):
        self.journal = journal
        self._folder = folder
        self._bench = bench
        self._scale = scale

    @property
    def device(self) -> str:
        return self._bench.device

    @property
    def data(self) -> Path:
        return data_folder(self._bench.data)

    def part(self, name: str, compute: Callable[[], Evidence]) -> Evidence:
        """What `compute()` gave, now or before the run was stopped."""
        _check_name("a part", name)
        path = self._folder.part(name)
        if not path.exists():
            outer, self.journal.part = self.journal.part, name
            try:
                evidence = compute()
            finally:
                self.journal.part = outer
            make_folder(path.parent)
            write_evidence(path, evidence)
        self._folder.drop_kept_for(name)
        return read_evidence(path)

    def folder(self, name: str) -> Path:
        """A folder for checkpoints; gone when the part that is open, or else the run, is finished."""
        _check_name("a folder", name)
        path = self._folder.kept_for(self.journal.part) / name
        make_folder(path)
        return path

    def found_by(self, claim: Claim[Any], settings: Any) -> Evidence:
        """The other claim's run, found done or else carried out now, beside this one."""
        outcome = perform(claim, claim.scale_for(self._scale), settings, self._bench)
        whether = "found done" if outcome.found else "done for this one"
        self._bench.say(f"from the run {outcome.folder.name}, {whether}")
        return outcome.evidence

    def progress(self, steps: Iterable[Any], what: str, total: int | None = None) -> Iterator[Any]:
        return self._bench.progress.follow(steps, what, total)


def _check_name(what: str, name: str) -> None:
    """A name that can be a file's."""
    if not name or not all(each.isalnum() or each in "-_.=" for each in name) or name.startswith("."):
        raise PenstockError(
            f"{what} of a run is named in letters, digits, '-', '_', '.' and '=', not {name!r}"
        )


def _waiting(shelf: Shelf, holder: str) -> str:
    by = f"another process ({holder})" if holder else "another process"
    return f"{shelf.name} is being run by {by}; waiting for it to finish"
