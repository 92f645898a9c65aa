"""Run folders and data lie where one says: on the command line, in the environment, or in a usual place."""

from pathlib import Path

import pytest

from lab.toys import slow_claim
from penstock.lab.claims.claim import Evidence, Run
from penstock.lab.runs.performing import Bench, perform
from penstock.lab.runs.places import data_folder, runs_folder


def test_runs_lie_where_they_are_said_to(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("PENSTOCK_RUNS")
    assert runs_folder() == Path("runs")
    monkeypatch.setenv("PENSTOCK_RUNS", "elsewhere")
    assert runs_folder() == Path("elsewhere")
    assert runs_folder(Path("here")) == Path("here")


def test_data_lie_where_they_are_said_to(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("PENSTOCK_DATA", raising=False)
    assert data_folder().name == "penstock"
    monkeypatch.setenv("PENSTOCK_DATA", "~/data")
    assert data_folder() == Path.home() / "data"
    assert data_folder(Path("here")) == Path("here")


def test_a_run_is_told_its_device_and_its_data(tmp_path: Path):
    seen: list[tuple[str, Path]] = []

    def run(settings: object, run: Run) -> Evidence:
        seen.append((run.device, run.data))
        return {"steps": 1}

    claim = slow_claim(run=run)
    bench = Bench(tmp_path, data=tmp_path / "data", device="meta")
    outcome = perform(claim, "smoke", claim.scales["smoke"].settings, bench)
    assert seen == [("meta", tmp_path / "data")]
    assert outcome.folder.about()["machine"]["device"] == "meta"


def test_the_device_does_not_name_the_run(tmp_path: Path):
    """What was run on a large machine's GPU is found done on a laptop."""
    claim = slow_claim()
    settings = claim.scales["smoke"].settings
    there = perform(claim, "smoke", settings, Bench(tmp_path, device="meta"))
    assert perform(claim, "smoke", settings, Bench(tmp_path)).found
    assert there.folder.path == tmp_path / there.folder.name
