"""What a run keeps to go on in the middle of a part outlives a crash, and goes when the part is finished."""

from pathlib import Path
from typing import Any

import pytest

from lab.toys import coin_claim, done, slow_claim
from penstock.errors import PenstockError
from penstock.lab.claims.claim import Evidence, Run
from penstock.lab.runs.performing import Bench, perform


class Counter:
    """A claim's run that counts in a file and is interrupted after the second count."""

    def __init__(self, in_a_part: bool):
        self.in_a_part = in_a_part
        self.begun_at: list[int] = []
        self.interrupt = True
        self.folders: list[Path] = []

    def __call__(self, settings: Any, run: Run) -> Evidence:
        return run.part("count", lambda: self.count(run)) if self.in_a_part else self.count(run)

    def count(self, run: Run) -> Evidence:
        folder = run.folder("counts")
        self.folders.append(folder)
        kept = folder / "kept"
        reached = int(kept.read_text()) if kept.exists() else 0
        self.begun_at.append(reached)
        for each in range(reached, 4):
            kept.write_text(str(each + 1))
            if self.interrupt and each == 1:
                raise KeyboardInterrupt
        return {"steps": 4}


@pytest.mark.parametrize("in_a_part", [True, False])
def test_what_is_kept_is_there_after_an_interruption_and_gone_in_the_end(in_a_part: bool, tmp_path: Path):
    run = Counter(in_a_part)
    claim = slow_claim(run=run)
    with pytest.raises(KeyboardInterrupt):
        done(claim, tmp_path)
    assert (run.folders[0] / "kept").exists()
    run.interrupt = False
    outcome = done(claim, tmp_path)
    assert run.begun_at == [0, 2]
    assert run.folders[0] == run.folders[1]
    assert not (outcome.folder.path / "unfinished").exists()


def test_what_a_part_kept_goes_with_the_part_and_what_the_run_kept_stays(tmp_path: Path):
    there: list[bool] = []

    def run(settings: Any, run: Run) -> Evidence:
        own = run.folder("part")
        kept: list[Path] = []
        run.part("part", lambda: {"steps": len(kept.append(run.folder("part")) or kept)})
        there.extend([own.exists(), kept[0].exists()])
        return {"steps": 1}

    done(slow_claim(run=run), tmp_path)
    assert there == [True, False]


def test_what_is_left_where_a_crash_came_between_evidence_and_the_end_goes_too(tmp_path: Path):
    folder = done(coin_claim(), tmp_path).folder
    (folder.path / "verdict.json").unlink()
    left = folder.kept_for("seed-0") / "relu"
    left.mkdir(parents=True)
    (left / "checkpoint").write_text("half a network")
    done(coin_claim(), tmp_path)
    assert not (folder.path / "unfinished").exists()


def test_a_folder_is_named_so_that_it_can_be_one(tmp_path: Path):
    claim = slow_claim(run=lambda settings, run: {"steps": len(str(run.folder("../elsewhere")))})
    with pytest.raises(PenstockError, match="a folder of a run is named in letters"):
        done(claim, tmp_path)


def reading(of: Any, settings: Any) -> Any:
    """A claim that counts what another one has found."""

    def run(own: Any, run: Run) -> Evidence:
        return {"steps": len(run.found_by(of, settings)["means"])}

    return slow_claim(run=run)


def test_what_another_claim_found_is_read_where_it_is_done(tmp_path: Path):
    coin = coin_claim()
    first = done(coin, tmp_path)

    def never(settings: Any, run: Run) -> Evidence:
        raise AssertionError("this is done already")

    told: list[str] = []
    claim = reading(coin_claim(run=never), coin.scales["smoke"].settings)
    outcome = perform(claim, "smoke", claim.scales["smoke"].settings, Bench(tmp_path, say=told.append))
    assert outcome.verdict.ours == "3 steps"
    assert told == [f"from the run {first.folder.name}, found done"]


def test_what_another_claim_has_not_found_yet_is_done_in_its_own_folder(tmp_path: Path):
    coin = coin_claim()
    outcome = done(reading(coin, coin.scales["smoke"].settings), tmp_path)
    assert outcome.verdict.ours == "3 steps"
    assert done(coin, tmp_path).found


def test_other_settings_of_the_other_claim_are_another_run_of_it(tmp_path: Path):
    import dataclasses

    coin = coin_claim()
    done(coin, tmp_path)
    others = dataclasses.replace(coin.scales["smoke"].settings, seeds=(5,))
    assert done(reading(coin, others), tmp_path).verdict.ours == "1 steps"
