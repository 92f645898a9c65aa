"""What has been run, and what speaks for a claim."""

from pathlib import Path

from lab.toys import coin_claim, done, slow_claim
from penstock.lab.claims.claim import Verdict
from penstock.lab.runs.inventory import records, standing
from penstock.lab.runs.performing import Bench, perform

COIN = coin_claim()


def laptop(root: Path) -> None:
    perform(COIN, "laptop", COIN.scales["laptop"].settings, Bench(root))


def test_runs_are_listed_by_claim_and_scale_and_nothing_else_is(tmp_path: Path):
    done(slow_claim(), tmp_path)
    laptop(tmp_path)
    done(COIN, tmp_path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "N90.txt").write_text("")
    assert [each.folder.name.rsplit("-", 1)[0] for each in records(tmp_path)] == [
        "N90-smoke",
        "N90-laptop",
        "N93-smoke",
    ]
    assert {each.state for each in records(tmp_path)} == {"finished"}


def test_a_folder_that_is_not_there_holds_no_runs(tmp_path: Path):
    assert records(tmp_path / "nowhere") == []


def test_a_refused_run_is_listed_with_its_reason(tmp_path: Path):
    folder = done(COIN, tmp_path).folder
    (folder.path / "run.json").write_text("{")
    (found,) = records(tmp_path)
    assert "is damaged" in found.state
    assert found.verdict is None


def test_a_run_shows_its_journal_and_where_it_was_started(tmp_path: Path):
    done(COIN, tmp_path)
    (found,) = records(tmp_path)
    assert [line["step"] for line in found.journal()] == [0, 1, 2] * 3
    assert [start["machine"]["device"] for start in found.starts()] == ["cpu"]


def test_the_largest_scale_speaks_for_a_claim(tmp_path: Path):
    assert standing(COIN, tmp_path) is None
    done(COIN, tmp_path)
    stands = standing(COIN, tmp_path)
    assert stands is not None
    assert stands[0] == "smoke"
    laptop(tmp_path)
    stands = standing(COIN, tmp_path)
    assert stands is not None
    assert stands[0] == "laptop"
    assert isinstance(stands[1], Verdict)


def test_a_run_with_overridden_settings_does_not_speak_for_its_claim(tmp_path: Path):
    done(COIN, tmp_path, draws=7)
    assert standing(COIN, tmp_path) is None


def test_a_refused_run_speaks_for_nothing_and_says_why(tmp_path: Path):
    folder = done(COIN, tmp_path).folder
    (folder.path / "run.json").write_text("{")
    stands = standing(COIN, tmp_path)
    assert stands is not None
    assert isinstance(stands[1], str)
    assert "is damaged" in stands[1]
