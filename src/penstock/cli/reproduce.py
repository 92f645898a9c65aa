"""`penstock reproduce`: re-derive claims, and say a verdict on each."""

import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import tyro

from penstock.cli.arguments import Common, Flag, Folder, UsageError, describe, hint, parse
from penstock.cli.claims import NOT_BUILT, choose
from penstock.cli.settings import about_claim, asked_scale, changed, claim_alone, command_for, refuse_shared
from penstock.cli.voice import Voice
from penstock.lab.claims.claim import NOT_RUN, SCALES, Claim
from penstock.lab.claims.listing import Row
from penstock.lab.report.pictures import draw_picture
from penstock.lab.runs.performing import Bench, Outcome, perform
from penstock.lab.runs.places import runs_folder

__all__ = ["reproduce_claims"]

PROGRAM = "penstock reproduce"


@dataclass(frozen=True)
class Reproduce(Common):
    claims: Annotated[tuple[str, ...], tyro.conf.Positional, hint("", "CLAIM ...")] = ()
    """Claims by id, such as N2; the letter of a paper, for all of its claims; or all."""
    scale: Literal["smoke", "laptop", "paper"] = "laptop"
    """smoke: seconds. laptop: minutes on two cores. paper: the paper's own size. Where a claim lacks it,
    the nearest that it has is run."""
    device: str = "cpu"
    """The torch device to compute on, such as cuda."""
    runs: Folder = None
    """The folder of runs (default: PENSTOCK_RUNS, or ./runs)."""
    data_dir: Folder = None
    """The folder of downloaded data (default: PENSTOCK_DATA, or a cache folder)."""
    fresh: Flag = False
    """Do it over, also where it is done; the old run stays until the new one is finished."""
    json: Flag = False
    """Print the verdicts as JSON."""


@dataclass
class Result:
    """What is said of one claim in the end."""

    row: Row
    scale: str
    verdict: str = NOT_RUN
    outcome: Outcome | None = None
    pictures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def reproduce_claims(arguments: Sequence[str]) -> int:
    """Re-derive claims: run each (or find it done), judge it by the rule written before the run, draw its
    picture.

    Ends with one line a claim: id, verdict, scale. Exit code 0 when each was judged, 1 when one could not
    be run. The settings of a claim are options of their own: `penstock reproduce N2 --help` lists them."""
    command = _read(arguments)
    if not command.claims:
        raise UsageError(f"name a claim, such as N2, a paper's letter, or all; see {PROGRAM} --help")
    rows = choose(command.claims)
    overriding = getattr(command, "settings", None) if len(rows) == 1 else None
    _check_device(command.device)
    voice = Voice(aside=sys.stderr if command.json else None)
    bench = Bench(
        runs_folder(command.runs), command.data_dir, command.device, say=lambda text: voice.say(f"    {text}")
    )
    results: list[Result] = []
    try:
        for row in rows:
            # one by one: those that are judged are told also where a later one is interrupted
            results += [_one(row, command, overriding, bench, voice)]
    except KeyboardInterrupt:
        again = "the same command without --fresh" if command.fresh else "the same command"
        voice.say(f"    stopped: {again} goes on from here")
        raise
    finally:
        _conclude(results, command.json, voice)
    return 1 if any(result.verdict == NOT_RUN for result in results) else 0


def _read(arguments: Sequence[str]) -> Any:
    claim = claim_alone(arguments, Reproduce)
    if claim is None:
        refuse_shared(arguments, Reproduce)
        return parse(Reproduce, arguments, PROGRAM, reproduce_claims.__doc__ or "")
    scale = claim.scale_for(asked_scale(arguments, Reproduce.scale))
    command = parse(command_for(Reproduce, claim, scale), arguments, PROGRAM, about_claim(claim))
    if len(set(command.claims)) > 1 and changed(claim.scales[scale].settings, command.settings):
        raise UsageError(
            f"settings are overridden for one claim at a time, and here are {', '.join(command.claims)}"
        )
    return command


def _check_device(name: str) -> None:
    if name == "cpu":
        return
    import torch

    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise UsageError(
            f"--device {name} cannot be used here ({_first_sentence(error)}); leave it out to compute on the "
            "CPU"
        ) from error


def _first_sentence(error: Exception) -> str:
    return str(error).partition("\n")[0].partition(". ")[0].rstrip(".")


def _one(row: Row, command: Reproduce, overriding: Any, bench: Bench, voice: Voice) -> Result:
    voice.say(f"{row.id}  {row.place}. {row.says}", "bold")
    if row.claim is None:
        voice.say(f"    {NOT_BUILT}")
        return Result(row, command.scale, notes=[NOT_BUILT])
    scale = row.claim.scale_for(command.scale)
    result = Result(row, scale)
    settings = overriding or row.claim.scales[scale].settings
    try:
        _introduce(row.claim, scale, command.scale, settings, voice)
        result.outcome = perform(row.claim, scale, settings, bench, fresh=command.fresh)
        result.verdict = result.outcome.verdict.word
    except BrokenPipeError:
        raise
    except Exception as error:
        _failed(result, f"{row.id} could not be run: {describe(error)}", command)
        return result
    _report(row.claim, result, result.outcome, voice)
    _draw(row.claim, result, result.outcome, command, voice)
    return result


def _introduce(claim: Claim[Any], scale: str, asked: str, settings: Any, voice: Voice) -> None:
    if scale != asked:
        has = [name for name in SCALES if name in claim.scales]
        voice.say(
            f"    it has no scale {asked}: runs {scale}, "
            + ("the only one" if len(has) == 1 else f"of {', '.join(has)}")
        )
    voice.say(f"    the rule at {scale}: {claim.scales[scale].rule}")
    other = changed(claim.scales[scale].settings, settings)
    if other:
        voice.say(
            f"    with {other} instead of the scale's own, so the verdict is of this run and not of the claim"
        )


def _report(claim: Claim[Any], result: Result, outcome: Outcome, voice: Voice) -> None:
    where = outcome.folder.path
    voice.say(
        f"    found done in {where}; --fresh does it over" if outcome.found else f"    the run is in {where}"
    )
    if claim.printed:
        voice.say(f"    the paper: {claim.printed}")
    if claim.corrected:
        voice.say(f"    corrected: {claim.corrected}")
    reduced = f" (at the reduced scale {result.scale})" if claim.is_reduced(result.scale) else ""
    voice.say(f"    here: {outcome.verdict.ours}{reduced}")
    voice.say(f"    {outcome.verdict.word}")


def _draw(claim: Claim[Any], result: Result, outcome: Outcome, command: Reproduce, voice: Voice) -> None:
    """The verdict stands also where the picture cannot be drawn."""
    if claim.draw is None:
        return
    try:
        result.pictures = [
            str(path) for path in draw_picture(claim, result.scale, outcome.evidence, outcome.folder)
        ]
    except Exception as error:
        _failed(result, f"the picture of {claim.id} was not drawn: {describe(error)}", command)
    else:
        voice.say(f"    the picture is {result.pictures[0]}")


def _failed(result: Result, text: str, command: Reproduce) -> None:
    result.notes.append(text)
    if command.debug:
        traceback.print_exc()
    print(f"penstock: {text}", file=sys.stderr)


def _conclude(results: list[Result], as_json: bool, voice: Voice) -> None:
    if as_json:
        voice.json([_whole(result) for result in results])
        return
    if results:
        voice.say()
    for result in results:
        voice.line(result.row.id, result.verdict, result.scale)


def _whole(result: Result) -> dict[str, Any]:
    claim, outcome = result.row.claim, result.outcome
    return {
        "id": result.row.id,
        "verdict": result.verdict,
        "scale": result.scale,
        "reduced": claim.is_reduced(result.scale) if claim else None,
        "rule": claim.scales[result.scale].rule if claim else None,
        "printed": claim.printed if claim else None,
        "corrected": claim.corrected if claim else None,
        "ours": outcome.verdict.ours if outcome else None,
        "run": str(outcome.folder.path) if outcome else None,
        "found": outcome.found if outcome else None,
        "pictures": result.pictures,
        "notes": result.notes,
    }
