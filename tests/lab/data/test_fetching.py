"""A download is there whole and right, or not at all."""

import os
from pathlib import Path

import pytest

from lab.data.conftest import Mirror
from lab.data.tiny import ARCHIVE, BATCHES, FILES, IMAGES, LABELS, packed, tiny_archive, tiny_source
from penstock import PenstockError
from penstock.lab.data.finding import contents, lies_there

NOBODY = "http://127.0.0.1:9/"


def everything_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_what_is_not_there_is_downloaded_once_and_said_so(
    tmp_path: Path, mirror: Mirror, capfd: pytest.CaptureFixture[str]
):
    mirror.files = {f"{name}.gz": packed(content) for name, content in FILES.items()}
    assert not lies_there(tiny_source(), tmp_path)
    assert contents(tiny_source((mirror.url,)), tmp_path) == FILES
    assert everything_in(tmp_path) == ["tiny", "tiny/images.gz", "tiny/labels.gz"]
    assert contents(tiny_source((mirror.url,)), tmp_path) == FILES
    assert mirror.asked == ["images.gz", "labels.gz"]


def test_an_archive_is_downloaded_and_read_where_it_lies(tmp_path: Path, mirror: Mirror):
    mirror.files = {"batches.tar.gz": ARCHIVE}
    assert contents(tiny_archive((mirror.url,)), tmp_path) == BATCHES
    assert everything_in(tmp_path) == ["tiny", "tiny/batches.tar.gz"]


def test_another_mirror_is_asked_where_one_fails(tmp_path: Path, mirror: Mirror):
    mirror.files = {"images.gz": packed(IMAGES), "labels.gz": packed(LABELS)}
    assert contents(tiny_source((NOBODY, mirror.url)), tmp_path) == FILES


def test_another_file_than_was_published_is_not_kept(tmp_path: Path, mirror: Mirror):
    mirror.files = {"images.gz": packed(IMAGES[::-1])}
    with pytest.raises(PenstockError, match="gave another file"):
        contents(tiny_source((mirror.url,)), tmp_path)
    assert everything_in(tmp_path) == []


def test_a_download_that_breaks_off_leaves_nothing(tmp_path: Path, mirror: Mirror):
    mirror.files = {"images.gz": packed(IMAGES)}
    mirror.short = {"images.gz"}
    with pytest.raises(PenstockError, match=r"images.gz of tiny is not in"):
        contents(tiny_source((mirror.url,)), tmp_path)
    assert everything_in(tmp_path) == []


def test_without_a_network_one_is_told_which_file_to_put_where(tmp_path: Path):
    with pytest.raises(PenstockError) as refused:
        contents(tiny_source((NOBODY,)), tmp_path)
    said = str(refused.value)
    assert said.startswith(f"images.gz of tiny is not in {tmp_path} and could not be downloaded")
    assert f"put it into {tmp_path / 'tiny'}, or name the folder that has it with PENSTOCK_DATA" in said
    assert "\n" not in said
    assert everything_in(tmp_path) == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_refused_by_name(tmp_path: Path):
    tmp_path.chmod(0o500)
    with pytest.raises(PenstockError, match="tiny cannot be written"):
        contents(tiny_source((NOBODY,)), tmp_path)


def test_a_file_in_the_place_of_the_folder_is_refused_by_name(tmp_path: Path):
    (tmp_path / "tiny").write_bytes(b"")
    with pytest.raises(PenstockError, match="tiny cannot be written"):
        contents(tiny_source((NOBODY,)), tmp_path)
