"""`penstock claims`: every claim, the paper's figure, ours, the verdict."""

import json
from pathlib import Path

import pytest

from cli.conftest import Command
from lab.claims.test_listing import EVERY
from lab.toys import coin_claim, done
from penstock.lab.claims.claim import PAPERS, WORDS
from penstock.lab.claims.listing import built_claims


def test_every_claim_is_a_plain_line_off_a_terminal(command: Command):
    said = command("claims")
    lines = [line.split("\t") for line in said.lines]
    assert said.code == 0
    assert {len(line) for line in lines} == {8}
    assert [line[0] for line in lines if not line[0].startswith("N9") or line[0] == "N9"] == EVERY
    assert "\x1b" not in said.out


def test_a_line_is_id_paper_place_claim_the_papers_figure_ours_verdict_scale(command: Command, runs: Path):
    assert command("claims", "N90").lines == [
        "N90\tN\tSection 0\tA fair coin shows heads half of the time.\t1/2\t\tnot run\t"
    ]
    done(coin_claim(), runs)
    assert command("claims", "n90").lines == [
        "N90\tN\tSection 0\tA fair coin shows heads half of the time.\t1/2\toff by 0.10\treproduced\tsmoke"
    ]


def test_what_is_not_built_yet_says_so(command: Command):
    assert "N94" in built_claims()
    said = command("claims", "B1")
    assert said.lines[0].split("\t")[5:] == ["not built yet", "not run", ""]


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_is_named_by_its_letter(paper: str, command: Command):
    ids = [line.split("\t")[0] for line in command("claims", paper.lower()).lines]
    assert {id[0] for id in ids} == {paper}
    assert set(ids) >= {id for id in EVERY if id[0] == paper}


def test_runs_lie_where_they_are_said_to(command: Command, tmp_path: Path):
    done(coin_claim(), tmp_path / "others")
    assert "reproduced" not in command("claims", "N90").out
    assert "reproduced" in command("claims", "N90", "--runs", str(tmp_path / "others")).out


def test_json_says_all_that_is_known(command: Command, runs: Path):
    done(coin_claim(), runs)
    coin, corrected, unbuilt = json.loads(command("claims", "N90", "N94", "B1", "--json").out)
    assert coin["verdict"] in WORDS
    assert (coin["scale"], coin["scales"], coin["built"]) == ("smoke", ["smoke", "laptop"], True)
    assert (corrected["printed"], corrected["corrected"]) == ("n(n-1)/2", "n(n+1)/2")
    assert (unbuilt["built"], unbuilt["verdict"], unbuilt["scale"]) == (False, "not run", None)


def test_where_the_paper_is_corrected_the_printed_one_stands_beside_it(command: Command):
    cells = command("claims", "N94").lines[0].split("\t")
    assert cells[4] == "n(n-1)/2 (corrected: n(n+1)/2)"


def test_a_refused_run_is_not_run_and_says_why(command: Command, runs: Path):
    folder = done(coin_claim(), runs).folder
    (folder.path / "run.json").write_text("{")
    cells = command("claims", "N90").lines[0].split("\t")
    assert "is damaged" in cells[5]
    assert cells[6] == "not run"


def test_an_unknown_claim_is_told_the_nearest(command: Command):
    said = command("claims", "N99")
    assert said.code == 2
    assert said.err.startswith("penstock: there is no claim called 'N99'; the nearest are N9")
