"""Files are found where they may lie, packed or plain, and are taken only for what they are."""

from pathlib import Path

import pytest

from lab.data.tiny import (
    ARCHIVE,
    BATCHES,
    FILES,
    IMAGES,
    LABELS,
    archive,
    packed,
    tiny_archive,
    tiny_source,
)
from penstock import PenstockError
from penstock.lab.data.finding import contents, lies_there


def lay(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize("below", ["", "tiny", "TINY/raw"])
def test_files_are_found_in_the_folder_or_below_it_packed_or_plain(tmp_path: Path, below: str):
    lay(tmp_path / below, {"images.gz": packed(IMAGES), "labels": LABELS})
    assert lies_there(tiny_source(), tmp_path)
    assert contents(tiny_source(), tmp_path) == FILES


def test_a_packed_file_may_have_lost_its_ending(tmp_path: Path):
    """Browsers and mirrors differ in whether they unpack, and none asks the name."""
    lay(tmp_path, {"images": packed(IMAGES), "labels.gz": LABELS})
    assert contents(tiny_source(), tmp_path) == FILES


def test_files_that_the_system_has_are_found(tmp_path: Path):
    system = lay(tmp_path / "usr", FILES)
    assert contents(tiny_source(elsewhere=(system,)), tmp_path / "empty") == FILES


def test_the_batches_are_found_as_files_or_in_their_archive(tmp_path: Path):
    for folder in (
        lay(tmp_path / "a" / "batches-bin", BATCHES),
        lay(tmp_path / "b", {"batches.tar.gz": ARCHIVE}),
    ):
        there = folder.parent if folder.name == "batches-bin" else folder
        assert lies_there(tiny_archive(), there)
        assert contents(tiny_archive(), there) == BATCHES
        assert len(list(there.rglob("*.*"))) <= len(BATCHES)  # nothing is unpacked to the disk


def test_a_file_of_another_data_set_with_the_same_name_is_passed_over(tmp_path: Path):
    lay(tmp_path, {"images": IMAGES[::-1], "labels": LABELS[::-1]})
    lay(tmp_path / "TINY" / "raw", FILES)
    assert contents(tiny_source(), tmp_path) == FILES
    system = lay(tmp_path / "usr", FILES)
    other = lay(tmp_path / "other", {"images": IMAGES[::-1], "labels": LABELS[::-1]})
    assert contents(tiny_source(elsewhere=(system,)), other) == FILES


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (IMAGES[:-1], "holds 27 bytes where 28 are expected"),
        (IMAGES + b"!", "holds more bytes where 28"),
        (IMAGES[:-1] + b"!", "another checksum"),
        (packed(IMAGES)[:-9], "damaged or cut short"),
        (packed(IMAGES)[:-8] + bytes(8), "damaged or cut short"),
        (packed(IMAGES)[:20], "damaged or cut short"),
        (packed(IMAGES)[:4] + bytes(30), "damaged or cut short"),
        (packed(bytes(1000)), "holds more bytes where 28"),
        (b"", "holds 0 bytes"),
    ],
)
def test_a_wrong_file_is_refused_by_name_and_left_alone(tmp_path: Path, wrong: bytes, said: str):
    lay(tmp_path, {"images.gz": wrong, "labels": LABELS})
    with pytest.raises(PenstockError, match=f"images.gz .*{said}.*put the right images.gz into") as refused:
        contents(tiny_source(("http://127.0.0.1:9/",)), tmp_path)
    assert str(tmp_path / "images.gz") in str(refused.value)
    assert (tmp_path / "images.gz").read_bytes() == wrong


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (ARCHIVE[: len(ARCHIVE) // 2], "damaged or cut short"),
        (b"not an archive", "damaged or cut short"),
        (b"", "damaged or cut short"),
        (archive({"one.bin": BATCHES["one.bin"]}), "lacks two.bin"),
        (archive({**BATCHES, "two.bin": b"no"}), "two.bin in .* holds 2 bytes"),
        (archive({**BATCHES, "two.bin": BATCHES["two.bin"][::-1]}), "two.bin in .* another checksum"),
    ],
)
def test_a_wrong_archive_is_refused_by_name(tmp_path: Path, wrong: bytes, said: str):
    lay(tmp_path, {"batches.tar.gz": wrong})
    with pytest.raises(PenstockError, match=f"batches.tar.gz.*{said}|{said}.*batches.tar.gz"):
        contents(tiny_archive(), tmp_path)


def test_a_folder_by_the_name_of_a_file_is_no_file(tmp_path: Path):
    lay(tmp_path / "tiny", FILES)
    (tmp_path / "tiny" / "images.gz").mkdir()
    assert contents(tiny_source(), tmp_path) == FILES
