"""`penstock runs`: what has been run, and what it wrote."""

import json
import sys
from pathlib import Path

import pytest

from cli.conftest import Command
from lab.toys import coin_claim, done, slow_claim


def test_nothing_run_yet_is_said(command: Command, runs: Path):
    said = command("runs")
    assert (said.code, said.out) == (0, "")
    assert said.err == f"nothing has been run yet in {runs}\n"


def test_a_run_is_a_plain_line_off_a_terminal(command: Command, runs: Path):
    name = done(coin_claim(), runs).folder.name
    cells = command("runs").lines[0].split("\t")
    assert cells[:3] == [name, "finished", "reproduced"]
    assert cells[5] == "9"


def test_its_journal_is_read_without_the_extra_report(
    command: Command, runs: Path, monkeypatch: pytest.MonkeyPatch
):
    done(coin_claim(), runs)
    for missing in ("polars", "matplotlib", "plotly"):
        monkeypatch.setitem(sys.modules, missing, None)
    assert "journal: 9 lines" in command("runs", "N90").out


def test_a_run_is_shown_in_full_by_its_name_or_by_its_claim(command: Command, runs: Path):
    name = done(coin_claim(), runs).folder.name
    done(slow_claim(), runs)
    by_name = command("runs", name).out
    assert by_name == command("runs", "n90").out
    for part in (
        "state: finished",
        "settings: draws 20",
        "seeds 0 1 2",
        "versions: penstock",
        "machine: ",
        "part seed-2",
    ):
        assert part in by_name
    assert "N93" not in by_name


def test_json_holds_the_whole_journal(command: Command, runs: Path):
    done(slow_claim(), runs)
    (run,) = json.loads(command("runs", "--json").out)
    assert run["verdict"] == "reproduced"
    assert [line["step"] for line in run["journal"]] == list(range(10)) * 3
    assert run["about"]["settings"] == {"parts": 3, "pause": 0}


def test_one_damaged_run_does_not_hide_the_others(command: Command, runs: Path):
    folder = done(coin_claim(), runs).folder
    (folder.path / "run.json").write_text("{")
    done(slow_claim(), runs)
    said = command("runs")
    assert said.code == 0
    assert "is damaged" in said.lines[0]
    assert "\tfinished\treproduced\t" in said.lines[1]


def test_an_unknown_run_is_told_the_nearest(command: Command, runs: Path):
    name = done(coin_claim(), runs).folder.name
    said = command("runs", name[:-1])
    assert said.code == 2
    assert f"the nearest is {name}" in said.err
