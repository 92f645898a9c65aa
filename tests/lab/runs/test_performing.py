"""A run is done once; a stopped one is gone on with; what is not as it was written is refused by name."""

import dataclasses
import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.toys import coin_claim, done, slow_claim
from penstock.errors import PenstockError
from penstock.lab.claims.claim import Claim, Evidence, Run, Scale, Verdict
from penstock.lab.runs.journal import read_journal
from penstock.lab.runs.performing import Bench, perform

COIN = coin_claim()


def never(settings: Any, run: Run) -> Evidence:
    raise AssertionError("this is done already")


def test_a_run_leaves_settings_seeds_versions_machine_journal_evidence_and_verdict(tmp_path: Path):
    outcome = done(COIN, tmp_path)
    folder = outcome.folder.path
    about = json.loads((folder / "run.json").read_text())
    assert about["claim"] == "N90"
    assert about["settings"] == {"draws": 20, "tolerance": 0.5, "seeds": [0, 1, 2]}
    assert about["seeds"] == {"seeds": [0, 1, 2]}
    assert about["rule"] == COIN.scales["smoke"].rule
    assert {"penstock", "python", "torch", "numpy"} <= set(about["versions"])
    assert about["machine"]["device"] == "cpu"
    assert len(read_journal(folder / "journal.jsonl")) == 9
    assert (
        json.loads((folder / "verdict.json").read_text())["verdict"] == outcome.verdict.word == "reproduced"
    )
    assert sorted(path.name for path in (folder / "parts").glob("*.json")) == [
        "seed-0.json",
        "seed-1.json",
        "seed-2.json",
    ]
    assert not outcome.found


def test_running_again_finds_it_done(tmp_path: Path):
    first = done(COIN, tmp_path)
    again = done(coin_claim(run=never), tmp_path)
    assert again.found
    assert again.verdict == first.verdict
    assert again.evidence["means"].equal(first.evidence["means"])


def test_a_folder_copied_from_another_machine_counts_as_done(tmp_path: Path):
    done(COIN, tmp_path / "there")
    shutil.copytree(tmp_path / "there", tmp_path / "here")
    assert done(coin_claim(run=never), tmp_path / "here").found


def test_a_finished_run_is_found_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    done(COIN, tmp_path)
    for name in ("mkdir", "rename", "replace", "write", "unlink"):
        monkeypatch.setattr(os, name, _refuse(errno.EROFS))
    assert done(coin_claim(run=never), tmp_path).found


def test_other_settings_are_another_run(tmp_path: Path):
    names = {done(COIN, tmp_path, draws=draws).folder.name for draws in (10, 20, 30)}
    assert len(names) == 3


def test_a_stopped_run_goes_on_with_the_part_in_which_it_was_stopped(tmp_path: Path):
    begun: list[int] = []

    def run(settings: Any, run: Run) -> Evidence:
        def compute(part: int) -> Evidence:
            begun.append(part)
            run.journal.write(part_number=part)
            if begun == [0, 1]:
                raise KeyboardInterrupt
            return {"steps": 1}

        return {"steps": sum(run.part(f"part-{k}", lambda k=k: compute(k))["steps"] for k in range(3))}

    claim = slow_claim(run=run)
    with pytest.raises(KeyboardInterrupt):
        done(claim, tmp_path)
    outcome = done(claim, tmp_path)
    assert begun == [0, 1, 1, 2]
    assert outcome.verdict.ours == "3 steps"
    assert [line["part_number"] for line in read_journal(outcome.folder.journal)] == [0, 1, 2]


def test_a_part_is_named_so_that_it_can_be_a_file(tmp_path: Path):
    claim = slow_claim(run=lambda settings, run: run.part("../elsewhere", lambda: {"steps": 1}))
    with pytest.raises(PenstockError, match="a part of a run is named in letters"):
        done(claim, tmp_path)


def test_fresh_does_it_over_and_keeps_the_old_run_until_the_new_one_is_finished(tmp_path: Path):
    old = done(COIN, tmp_path)
    seen: list[bool] = []

    def run(settings: Any, run: Run) -> Evidence:
        seen.append(old.folder.finished)
        return COIN.run(settings, run)

    new = done(coin_claim(run=run), tmp_path, fresh=True)
    assert seen == [True]
    assert not new.found
    assert new.verdict == old.verdict
    assert [path.name for path in tmp_path.iterdir()] == [old.folder.name]


def test_a_fresh_run_that_was_stopped_is_gone_on_with_and_the_old_one_stays(tmp_path: Path):
    old = done(slow_claim(), tmp_path)

    def stopped(settings: Any, run: Run) -> Evidence:
        run.part("part-0", lambda: {"steps": 5})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        done(slow_claim(run=stopped), tmp_path, fresh=True)
    assert old.folder.finished
    told: list[str] = []
    claim = slow_claim()
    bench = Bench(tmp_path, say=told.append)
    outcome = perform(claim, "smoke", claim.scales["smoke"].settings, bench)
    assert outcome.verdict.ours == "25 steps"
    assert "done over when it was stopped" in told[0]


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        ("run.json", lambda path: path.write_bytes(path.read_bytes()[:40])),
        ("run.json", lambda path: path.write_text(path.read_text().replace('"draws": 20', '"draws": 21'))),
        ("run.json", lambda path: path.write_text("[]")),
        ("verdict.json", lambda path: path.write_bytes(path.read_bytes()[:40])),
        ("verdict.json", lambda path: path.write_text("[]")),
        (
            "verdict.json",
            lambda path: path.write_text(path.read_text().replace('"reproduced"', '"not reproduced"')),
        ),
        (
            "verdict.json",
            lambda path: path.write_text(path.read_text().replace('"reproduced"', '"splendid"')),
        ),
        ("evidence.json", lambda path: path.write_bytes(path.read_bytes()[:40])),
        ("evidence.json", lambda path: path.write_text(path.read_text().replace("fair", "foul"))),
        ("evidence.json", lambda path: path.unlink()),
        ("evidence.safetensors", lambda path: path.write_bytes(path.read_bytes()[:-1] + b"\x00")),
        ("evidence.safetensors", lambda path: path.unlink()),
        ("journal.jsonl", lambda path: path.write_bytes(path.read_bytes()[:-9])),
        ("journal.jsonl", lambda path: path.unlink()),
    ],
)
def test_a_damaged_run_is_refused_by_name_and_can_be_done_over(
    file: str, damage: Callable[[Path], Any], tmp_path: Path
):
    folder = done(COIN, tmp_path).folder
    damage(folder.path / file)
    with pytest.raises(PenstockError, match=f"{folder.name} is damaged .*--fresh"):
        done(COIN, tmp_path)
    assert done(COIN, tmp_path, fresh=True).verdict.word == "reproduced"
    assert done(coin_claim(run=never), tmp_path).found


@pytest.mark.parametrize("file", ["parts/seed-0.json", "parts/seed-0.safetensors", "journal.jsonl"])
def test_a_damaged_unfinished_run_is_refused_by_name(file: str, tmp_path: Path):
    folder = done(COIN, tmp_path).folder
    for name in ("verdict.json", "evidence.json"):
        (folder.path / name).unlink()
    (folder.path / file).write_bytes(b"{ not\n what was written\n")
    with pytest.raises(PenstockError, match=f"{folder.name} is damaged .*--fresh"):
        done(COIN, tmp_path)


@pytest.mark.parametrize(("key", "value"), [("penstock", "0.0.1"), ("format", 0)])
def test_a_run_of_another_version_is_refused_by_name(key: str, value: object, tmp_path: Path):
    folder = done(COIN, tmp_path).folder
    about = json.loads((folder.path / "run.json").read_text())
    (folder.path / "run.json").write_text(json.dumps({**about, key: value}))
    with pytest.raises(PenstockError, match=f"{folder.name} was written by Penstock .*--fresh"):
        done(COIN, tmp_path)
    assert done(COIN, tmp_path, fresh=True).verdict.word == "reproduced"


def test_a_folder_that_is_no_run_is_refused_and_never_replaced(tmp_path: Path):
    name = done(COIN, tmp_path / "elsewhere").folder.name
    (tmp_path / name).mkdir()
    (tmp_path / name / "thesis.tex").write_text("years of work")
    for fresh in (False, True):
        with pytest.raises(PenstockError, match=f"{name} is not a run: .*move it away"):
            done(COIN, tmp_path, fresh=fresh)
    assert (tmp_path / name / "thesis.tex").read_text() == "years of work"


def test_a_verdict_is_computed_and_never_typed(tmp_path: Path):
    folder = done(COIN, tmp_path, tolerance=0.0).folder
    verdict = folder.path / "verdict.json"
    verdict.write_text(verdict.read_text().replace('"not reproduced"', '"reproduced"'))
    with pytest.raises(PenstockError, match="it says 'reproduced', and its evidence makes 'not reproduced'"):
        done(COIN, tmp_path, tolerance=0.0)


def test_a_rule_written_after_the_run_asks_for_another_run(tmp_path: Path):
    first = done(COIN, tmp_path)
    scale = COIN.scales["smoke"]
    changed = coin_claim(scales={"smoke": dataclasses.replace(scale, rule="Whatever comes out is right.")})
    assert done(changed, tmp_path).folder.name != first.folder.name


def test_a_full_disk_is_one_sentence_and_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real, left = os.write, [1500]

    def write(handle: int, content: Any) -> int:
        if left[0] <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left[0] -= len(content)
        return real(handle, content)

    with monkeypatch.context() as full:
        full.setattr(os, "write", write)
        with pytest.raises(
            PenstockError, match=r"cannot be written \(No space left on device\).*run it again"
        ):
            done(COIN, tmp_path)
    assert not list(tmp_path.rglob("*.writing"))
    assert done(COIN, tmp_path).verdict.word == "reproduced"


def test_a_runs_folder_that_is_a_file_is_one_sentence(tmp_path: Path):
    (tmp_path / "runs").write_text("")
    with pytest.raises(PenstockError, match=r"runs cannot be written .* name another folder"):
        done(COIN, tmp_path / "runs")


def test_evidence_that_no_file_can_hold_is_refused_by_name(tmp_path: Path):
    claim = slow_claim(run=lambda settings, run: {"steps": {"nested": 1}})
    with pytest.raises(PenstockError, match="the evidence 'steps' is a dict; evidence is a flat mapping"):
        done(claim, tmp_path)


def test_a_run_is_judged_by_what_can_be_read_back(tmp_path: Path):
    """An integer array of NumPy comes back as a tensor: the rule sees that, now and later."""
    import numpy as np

    seen: list[str] = []

    def judge(evidence: Evidence) -> Verdict:
        seen.append(type(evidence["count"]).__name__)
        return Verdict("reproduced", "so")

    scale = dataclasses.replace(slow_claim().scales["smoke"], judge=judge)
    claim: Claim[Any] = slow_claim(scales={"smoke": scale}, run=lambda settings, run: {"count": np.arange(3)})
    done(claim, tmp_path)
    done(claim, tmp_path)
    assert seen == ["Tensor", "Tensor"]


def _refuse(reason: int) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError(reason, os.strerror(reason))

    return refuse


def test_settings_of_a_scale_are_what_is_run_unless_told(tmp_path: Path):
    claim = coin_claim()
    assert isinstance(claim.scales["laptop"], Scale)
    outcome = perform(claim, "laptop", claim.scales["laptop"].settings, Bench(tmp_path))
    assert outcome.folder.about()["settings"]["draws"] == 200
