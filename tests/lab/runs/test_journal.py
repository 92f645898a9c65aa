"""What is written into a journal is there after a crash, each part once."""

import json
import math
from pathlib import Path

import numpy as np
import polars
import pytest

from penstock.errors import PenstockError
from penstock.lab.runs.evidence import Damaged
from penstock.lab.runs.journal import Journal, journal_frame, read_journal, read_starts


def opened(path: Path) -> Journal:
    return Journal(path / "journal.jsonl", {"machine": "this"})


def test_a_line_is_there_as_soon_as_it_is_written(tmp_path: Path):
    journal = opened(tmp_path)
    journal.write(step=1, loss=0.5, word="so", on=True, none=None)
    (line,) = read_journal(journal.path)
    assert {name: line[name] for name in ("step", "loss", "word", "on", "none")} == {
        "step": 1,
        "loss": 0.5,
        "word": "so",
        "on": True,
        "none": None,
    }
    journal.close()


def test_numbers_that_are_not_finite_and_numbers_of_numpy_come_back(tmp_path: Path):
    journal = opened(tmp_path)
    journal.write(a=math.inf, b=math.nan, c=np.float32(0.5), d=np.int64(3))
    journal.close()
    (line,) = read_journal(journal.path)
    assert line["a"] == math.inf
    assert math.isnan(line["b"])
    assert (line["c"], line["d"]) == (0.5, 3)


@pytest.mark.parametrize("torn", range(1, 40))
def test_a_line_that_was_being_written_when_the_run_was_killed_is_dropped(torn: int, tmp_path: Path):
    journal = opened(tmp_path)
    journal.write(step=1)
    journal.write(step=2)
    journal.close()
    journal.path.write_bytes(journal.path.read_bytes()[:-torn])
    assert [line["step"] for line in read_journal(journal.path)] == [1]
    again = opened(tmp_path)
    again.write(step=3)
    again.close()
    assert [line["step"] for line in read_journal(journal.path)] == [3]
    assert all(json.loads(line) for line in journal.path.read_text().splitlines())


def test_of_a_part_that_was_begun_twice_the_last_start_counts(tmp_path: Path):
    first = opened(tmp_path)
    first.part = "a"
    first.write(step=1)
    first.part = "b"
    first.write(step=1)
    first.write(step=2)
    first.close()
    second = opened(tmp_path)
    second.part = "b"
    second.write(step=1)
    second.close()
    assert [(line["part"], line["step"], line["start"]) for line in read_journal(first.path)] == [
        ("a", 1, 1),
        ("b", 1, 2),
    ]
    assert [start["machine"] for start in read_starts(first.path)] == ["this", "this"]


def test_a_line_in_the_middle_that_cannot_be_read_is_damage(tmp_path: Path):
    journal = opened(tmp_path)
    journal.write(step=1)
    journal.close()
    journal.path.write_bytes(b'{"time": 1,\n' + journal.path.read_bytes())
    with pytest.raises(Damaged, match="line 1 of its journal"):
        read_journal(journal.path)


@pytest.mark.parametrize("name", ["time", "start", "part", "about"])
def test_what_the_journal_writes_itself_is_not_a_metric(name: str, tmp_path: Path):
    journal = opened(tmp_path)
    with pytest.raises(PenstockError, match=f"the journal writes '{name}' itself"):
        journal.write(**{name: 1})
    journal.close()


def test_a_metric_is_a_number_or_a_word(tmp_path: Path):
    journal = opened(tmp_path)
    with pytest.raises(PenstockError, match="the metric 'loss' is a list"):
        journal.write(loss=[1])  # type: ignore[arg-type]
    journal.close()


def test_a_journal_is_a_frame(tmp_path: Path):
    journal = opened(tmp_path)
    journal.write(step=1, loss=0.5)
    journal.write(step=2, loss=math.inf, accuracy=0.9)
    journal.close()
    frame = journal_frame(journal.path)
    assert isinstance(frame, polars.DataFrame)
    assert frame["step"].to_list() == [1, 2]
    assert frame["loss"].to_list() == [0.5, math.inf]
    assert frame["accuracy"].to_list() == [None, 0.9]
