"""`PENSTOCK_DATA` and `--data-dir` say where data lie, and a claim is told."""

from pathlib import Path

import pytest

from lab.toys import slow_claim
from penstock import PenstockError
from penstock.lab.claims.claim import Evidence, Run
from penstock.lab.data import finding
from penstock.lab.data.named import load_data
from penstock.lab.data.source import Parcel, Source
from penstock.lab.runs.performing import Bench, perform


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders from which a data set was asked for that was not there."""
    folders: list[Path] = []

    def refuse(source: Source, parcel: Parcel, folder: Path) -> Path:
        folders.append(folder)
        raise PenstockError(f"{parcel.name} is not in {folder}")

    monkeypatch.setattr(finding, "fetch", refuse)
    return folders


def test_what_is_given_goes_before_the_environment(
    tmp_path: Path, asked: list[Path], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PENSTOCK_DATA", str(tmp_path / "named"))
    for given in (None, tmp_path / "given"):
        with pytest.raises(PenstockError, match=r"train-images-idx3-ubyte.gz is not in"):
            load_data("mnist", given)
    assert asked == [tmp_path / "named", tmp_path / "given"]


def test_a_claim_loads_from_the_folder_that_the_command_was_given(tmp_path: Path, asked: list[Path]):
    def run(settings: object, run: Run) -> Evidence:
        return {"examples": load_data("cifar-10", run.data).train.count}

    claim = slow_claim(run=run)
    with pytest.raises(PenstockError, match=r"cifar-10-binary.tar.gz is not in"):
        perform(claim, "smoke", claim.scales["smoke"].settings, Bench(tmp_path, data=tmp_path / "data"))
    assert asked == [tmp_path / "data"]
