"""`penstock reproduce`: one plain line a claim in the end, and an exit code that says whether each was
judged."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.conftest import Command, finish, start
from penstock.lab.runs.inventory import records


def test_it_ends_with_one_plain_line_a_claim(command: Command):
    said = command("reproduce", "N94", "N93", "--scale", "smoke")
    assert said.code == 0
    assert said.lines[-2:] == ["N94\treproduced as corrected\tsmoke", "N93\treproduced\tsmoke"]
    assert "\x1b" not in said.out


def test_the_paper_the_correction_and_ours_stand_beside_each_other(command: Command):
    out = command("reproduce", "N94").out
    assert "the paper: n(n-1)/2" in out
    assert "corrected: n(n+1)/2" in out
    assert "here: the sum is 55" in out
    assert "the rule at smoke: The sum equals n(n+1)/2." in out


def test_a_claim_that_lacks_the_scale_runs_what_it_has_and_says_so(command: Command):
    said = command("reproduce", "N93", "--scale", "paper")
    assert "it has no scale paper: runs smoke, the only one" in said.out
    assert said.lines[-1] == "N93\treproduced\tsmoke"
    assert "runs laptop, of smoke, laptop" in command("reproduce", "N90", "--scale", "paper").out


def test_a_reduced_scale_says_so_where_its_figure_is_shown(command: Command):
    assert (
        "here: off by 0.10 (at the reduced scale smoke)"
        in command("reproduce", "N90", "--scale", "smoke").out
    )
    assert "reduced scale" not in command("reproduce", "N90", "--scale", "laptop").out


def test_running_again_finds_it_done_and_fresh_does_it_over(command: Command, runs: Path):
    first = command("reproduce", "N90", "--scale", "smoke")
    again = command("reproduce", "N90", "--scale", "smoke")
    over = command("reproduce", "N90", "--scale", "smoke", "--fresh")
    assert "found done in" not in first.out
    assert re.search(r"found done in .*runs/N90-smoke-\w+; --fresh does it over", again.out)
    assert "found done in" not in over.out
    assert first.lines[-1] == again.lines[-1] == over.lines[-1] == "N90\treproduced\tsmoke"
    assert len(records(runs)) == 1


def test_a_claim_that_is_not_built_is_not_run(command: Command):
    said = command("reproduce", "B1", "N94")
    assert said.code == 1
    assert said.lines[-2:] == ["B1\tnot run\tlaptop", "N94\treproduced as corrected\tsmoke"]
    assert "not built yet" in said.out


@pytest.mark.parametrize(
    ("id", "sentence"),
    [
        ("N91", "penstock: N91 could not be run: the data set is not there; fetch it first\n"),
        (
            "N92",
            "penstock: N92 could not be run: ZeroDivisionError: division by zero (--debug shows the "
            "traceback)\n",
        ),
    ],
)
def test_a_claim_that_cannot_be_run_does_not_stop_the_others(id: str, sentence: str, command: Command):
    said = command("reproduce", id, "N94")
    assert said.code == 1
    assert said.err == sentence
    assert said.lines[-2:] == [f"{id}\tnot run\tsmoke", "N94\treproduced as corrected\tsmoke"]


def test_the_traceback_of_a_claim_is_shown_to_who_asks(command: Command):
    assert "Traceback (most recent call last)" in command("reproduce", "N92", "--debug").err


def test_json_gives_the_same(command: Command):
    said = command("reproduce", "N94", "B1", "--json")
    corrected, unbuilt = json.loads(said.out)
    assert said.code == 1
    assert (corrected["id"], corrected["verdict"], corrected["scale"]) == (
        "N94",
        "reproduced as corrected",
        "smoke",
    )
    assert corrected["ours"] == "the sum is 55"
    assert (unbuilt["id"], unbuilt["verdict"], unbuilt["scale"]) == ("B1", "not run", "laptop")
    assert "the rule at smoke" in said.err


def test_its_own_help_lists_a_claims_settings_with_their_defaults_at_each_scale(command: Command):
    out = " ".join(command("reproduce", "N90", "--help").out.split())
    assert "--draws INT Draws in each part. (default: 200)" in out
    assert (
        "At smoke: draws 20, tolerance 0.5, seeds 0 1 2. Every mean is within the tolerance of a half." in out
    )
    assert "At laptop: draws 200, tolerance 0.2, seeds 0 1 2." in out
    at_smoke = " ".join(command("reproduce", "N90", "--scale", "smoke", "--help").out.split())
    assert "--draws INT Draws in each part. (default: 20)" in at_smoke


@pytest.mark.parametrize(
    "arguments", [["N90", "--draws", "40"], ["--draws", "40", "n90"], ["--draws=40", "N90"]]
)
def test_settings_are_overridden_on_the_command_line(arguments: list[str], command: Command, runs: Path):
    said = command("reproduce", *arguments, "--scale", "smoke", "--seeds", "4", "5")
    assert said.code == 0
    (record,) = records(runs)
    assert record.about["settings"] == {"draws": 40, "tolerance": 0.5, "seeds": [4, 5]}
    assert "with draws 40, seeds 4 5 instead of the scale's own, so the verdict is of this run" in said.out
    assert "not run" in command("claims", "N90").out


@pytest.mark.parametrize(
    "arguments",
    [["N90", "N94", "--draws", "5"], ["N", "N90", "--draws", "5"], ["N90", "--draws", "5", "N94"]],
)
def test_settings_are_overridden_for_one_claim_at_a_time(arguments: list[str], command: Command):
    said = command("reproduce", *arguments)
    assert said.code == 2
    assert "one claim at a time" in said.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "name a claim, such as N2, a paper's letter, or all"),
        (["N99"], "there is no claim called 'N99'; the nearest are N9"),
        (["N90", "--scale", "huge"], "--scale takes smoke, laptop or paper, not 'huge'"),
        (
            ["N90", "--scale", "smoek"],
            "--scale takes smoke, laptop or paper, not 'smoek'; the nearest is smoke",
        ),
        (["N90", "--draws", "five"], "--draws takes a whole number, not 'five'"),
        (["N90", "--draws", "5.5"], "--draws takes a whole number, not '5.5'"),
        (["N90", "--tolerance=tiny"], "--tolerance takes a number, not 'tiny'"),
        (["N90", "--seeds", "1", "x"], "--seeds takes one or more of a whole number, not 'x'"),
        (["N90", "--draws", "0"], "penstock: the setting draws is 0, which shows nothing; give 1 or more"),
        (["N90", "--draws"], "--draws needs a value: a whole number"),
        (["N90", "--draw", "5"], "there is no option --draw; the nearest are --draws"),
        (["N94", "--draws", "5"], "there is no option --draws"),
        (["N94", "--device", "abacus"], "--device abacus cannot be used here (Expected one of cpu, "),
    ],
)
def test_a_wrong_call_runs_nothing_and_says_what_was_wrong(
    arguments: list[str], sentence: str, command: Command, runs: Path
):
    said = command("reproduce", *arguments)
    assert said.code == 2
    assert sentence in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert not runs.exists()


def test_without_the_extra_report_it_judges_and_says_which_picture_was_not_drawn(
    command: Command, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "matplotlib", None)
        said = command("reproduce", "N90", "--scale", "smoke")
    assert said.code == 0
    assert said.lines[-1] == "N90\treproduced\tsmoke"
    needs = "that needs the extra report: pip install 'penstock[report]'"
    assert said.err == f"penstock: the picture of N90 was not drawn: {needs}\n"
    again = command("reproduce", "N90", "--scale", "smoke")
    assert re.search(r"the picture is .*figure\.svg", again.out)


def test_an_interrupted_run_is_130_and_the_same_command_goes_on(runs: Path):
    arguments = ["reproduce", "N93", "--parts", "4", "--pause", "0.05"]
    process = start(*arguments, runs=runs)
    wait_for(lambda: list(runs.glob("N93-*/parts/part-0.json")))
    process.send_signal(signal.SIGINT)
    stopped = finish(process)
    assert stopped.code == 130
    assert "the same command goes on from here" in stopped.out
    assert stopped.err == "penstock: stopped\n"
    assert [record.state for record in records(runs)] == ["unfinished"]
    again = finish(start(*arguments, runs=runs))
    assert again.code == 0
    assert "which was stopped before its end" in again.out
    assert again.lines[-1] == "N93\treproduced\tsmoke"
    (record,) = records(runs)
    assert [line["step"] for line in record.journal()] == list(range(10)) * 4


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_killed_run_is_gone_on_with(runs: Path):
    arguments = ["reproduce", "N93", "--parts", "4", "--pause", "0.05"]
    process = start(*arguments, runs=runs)
    wait_for(lambda: list(runs.glob("N93-*/parts/part-1.json")))
    process.kill()
    finish(process)
    again = finish(start(*arguments, runs=runs))
    assert again.lines[-1] == "N93\treproduced\tsmoke"
    (record,) = records(runs)
    assert {line["part"]: line["start"] for line in record.journal()} == {
        "part-0": 1,
        "part-1": 1,
        "part-2": 2,
        "part-3": 2,
    }
    assert not list(runs.rglob(".*"))


@pytest.mark.skipif(os.name != "posix", reason="SIGSTOP")
def test_of_two_at_once_the_second_waits_and_finds_it_done(runs: Path):
    arguments = ["reproduce", "N93", "--pause", "0.05"]
    first = start(*arguments, runs=runs)
    wait_for(lambda: list(runs.glob("N93-*/journal.jsonl")))
    # held still, so that it cannot be done before the second has begun, however busy the machine is
    first.send_signal(signal.SIGSTOP)
    with start(*arguments, runs=runs) as second:
        try:
            said = _until(second, "waiting")
        finally:
            first.send_signal(signal.SIGCONT)
        assert f"is being run by another process ({first.pid}); waiting for it to finish" in said
        rest = _until(second, "\treproduced\t")
    assert "found done in" in rest
    assert rest.splitlines()[-1] == finish(first).lines[-1] == "N93\treproduced\tsmoke"


def _until(process: subprocess.Popen[str], word: str) -> str:
    """What a process says, up to the line with this word, or all of it."""
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if word in line:
            break
    return said


def test_a_long_run_off_a_terminal_says_how_far_it_is_in_plain_lines(
    command: Command, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("penstock.lab.runs.progress.EVERY", 0.0)
    said = command("reproduce", "N93", "--parts", "1", "--pause", "0.001")
    assert re.match(r"part 0: 1 of 10, .+, .+ left\n", said.err)
    assert "part 0" not in said.out


def wait_for(what, seconds: float = 30) -> None:
    patience = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < patience, "it never came"
        time.sleep(0.02)
