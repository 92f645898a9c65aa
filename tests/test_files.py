"""A file is there whole or not at all."""

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import PenstockError
from penstock.files import discard, make_folder, read_json, write_file, write_json


def test_a_file_is_written_and_nothing_beside_it_is_left(tmp_path: Path):
    write_file(tmp_path / "a", b"one")
    write_file(tmp_path / "a", b"two")
    assert (tmp_path / "a").read_bytes() == b"two"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@given(st.lists(st.integers(1, 7), min_size=1))
def test_a_write_that_takes_less_than_it_was_given_is_gone_on_with(
    tmp_path_factory: pytest.TempPathFactory, portions: list[int]
):
    real, sizes = os.write, iter(portions * 100)
    path = tmp_path_factory.mktemp("portions") / "a"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", lambda handle, content: real(handle, bytes(content)[: next(sizes)]))
        write_file(path, bytes(range(100)))
    assert path.read_bytes() == bytes(range(100))


@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
def test_a_write_that_fails_leaves_what_was_there(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a"
    write_file(path, b"one")

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as broken:
        broken.setattr(os, call, fail)
        with pytest.raises(PenstockError, match=r"a cannot be written \(Input/output error\)"):
            write_file(path, b"two")
    assert path.read_bytes() == b"one"
    assert [each.name for each in tmp_path.iterdir()] == ["a"]


def test_json_that_is_not_standard_is_not_written(tmp_path: Path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "a.json", {"loss": float("nan")})
    write_json(tmp_path / "a.json", {"φ": 1})
    assert read_json(tmp_path / "a.json") == {"φ": 1}


def test_a_folder_is_removed_by_way_of_another_name(tmp_path: Path):
    folder, trash = tmp_path / "folder", tmp_path / "trash"
    (trash / "older").mkdir(parents=True)
    (folder / "inner").mkdir(parents=True)
    discard(folder, trash)
    discard(folder, trash)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PenstockError, match="cannot be written"):
        make_folder(tmp_path / "file" / "folder")
