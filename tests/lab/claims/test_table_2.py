"""The trainings behind N Table 2: what regimes have in common, going on in the middle, and being shared."""

import copy
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from lab.toys import done
from penstock.errors import PenstockError
from penstock.lab.claims import regime_training
from penstock.lab.claims.claim import Evidence
from penstock.lab.claims.listing import built_claims
from penstock.lab.claims.table_2 import LAPTOP, PAPER, REGIMES, ROWS, SMOKE, Settings
from penstock.lab.runs.evidence import read_evidence
from penstock.lab.runs.journal import read_journal
from penstock.training.loop import train
from penstock.training.member import Member

BUILT = built_claims()
SMALL: dict[str, Any] = {"width": 6, "epochs": 3, "batch": 256, "seeds": (0, 1, 2)}


State = dict[str, torch.Tensor]


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> list[list[State]]:
    """Of every training that is begun from here on, what its members start from."""
    begun: list[list[State]] = []

    def watched(members: list[Member], *arguments: Any, **named: Any) -> Any:
        begun.append([copy.deepcopy(each.model.state_dict()) for each in members])
        return train(members, *arguments, **named)

    monkeypatch.setattr(regime_training, "train", watched)
    return begun


def weights(starts: list[State], part: str) -> list[State]:
    """Of one of the two networks of every member."""
    return [{name: each for name, each in start.items() if name.startswith(part)} for start in starts]


def same(one: State, other: State, part: str = "", its: str = "") -> bool:
    return all(
        torch.equal(tensor, other[its + name.removeprefix(part)])
        for name, tensor in one.items()
        if tensor.ndim > 1
    )


def test_relu_is_trained_first_then_the_columns_of_the_table(trainings: list[list[State]], tmp_path: Path):
    outcome = done(BUILT["N16"], tmp_path, **SMALL)
    assert [len(members) for members in trainings] == [3] * 5
    lines = read_journal(outcome.folder.journal)
    regimes = list(dict.fromkeys(line["regime"] for line in lines))
    assert regimes == ["relu", *REGIMES[:-1]]
    assert {"train_accuracy", "test_accuracy", "member", "epoch", "row"} <= set(lines[0])
    assert len(lines) == 5 * 3 * 3


def test_both_kinds_of_random_gates_are_the_same_gates_and_values_are_as_they_say(
    trainings: list[list[State]], tmp_path: Path
):
    done(BUILT["N16"], tmp_path, **SMALL)
    independent, dependent = trainings[1:3]
    for ii, di, dl in zip(*(weights(each, "feature.") for each in trainings[1:4]), strict=True):
        assert same(ii, di)
        assert same(ii, dl)
    for own, values in zip(weights(dependent, "feature."), weights(dependent, "value."), strict=True):
        assert same(own, values, "feature.", "value.")
    for own, values in zip(weights(independent, "feature."), weights(independent, "value."), strict=True):
        assert not same(own, values, "feature.", "value.")


def test_flnpf_has_the_gates_of_the_best_relu_network_and_none_of_its_starts(
    trainings: list[list[State]], tmp_path: Path
):
    outcome = done(BUILT["N16"], tmp_path, **SMALL)
    relu = read_evidence(outcome.folder.part("fc-adam-relu"))
    for place, features in enumerate(weights(trainings[4], "feature.")):
        best = {name: tensor for name, tensor in relu.items() if name.startswith(f"best/{place}/")}
        assert same(best, features, f"best/{place}/", "feature.")
    for start, values in zip(trainings[0], weights(trainings[4], "value."), strict=True):
        assert not same(values, start, "value.")


def test_a_training_that_was_stopped_goes_on_in_its_middle_with_the_numbers_it_would_have_had(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    whole = done(BUILT["N16"], tmp_path / "whole", **SMALL)
    begun: list[list[int]] = []

    def stopped(*arguments: Any, journal: Any, **named: Any) -> Any:
        epochs: list[int] = []
        begun.append(epochs)

        def told(**metrics: Any) -> None:
            epochs.append(metrics["epoch"])
            journal(**metrics)

        def followed(steps: Any, what: str, total: int | None) -> Any:
            for each in steps:
                if len(begun) == 3 and what == "steps of epoch 3":
                    raise KeyboardInterrupt
                yield each

        return train(*arguments, journal=told, **{**named, "progress": followed})

    monkeypatch.setattr(regime_training, "train", stopped)
    with pytest.raises(KeyboardInterrupt):
        done(BUILT["N16"], tmp_path / "stopped", **SMALL)
    outcome = done(BUILT["N16"], tmp_path / "stopped", **SMALL)
    assert len(begun) == 3 + 3, "of five trainings two were done, and one was gone on with"
    assert torch.equal(outcome.evidence["test"], whole.evidence["test"])
    assert not (outcome.folder.path / "unfinished").exists()
    # what the checkpoint knew is told again; epochs 1 and 2 were not trained again
    assert begun[3] == [1, 2, 1, 2, 1, 2, 3, 3, 3]
    assert len(read_journal(outcome.folder.journal)) == 5 * 3 * 3


def test_the_claims_that_read_the_table_find_its_trainings_done(trainings: list[list[State]], tmp_path: Path):
    table = done(BUILT["N16"], tmp_path, **SMALL)
    assert len(trainings) == 5
    differences = done(BUILT["N17"], tmp_path, **SMALL).evidence
    shares = done(BUILT["N24"], tmp_path, **SMALL).evidence
    assert len(trainings) == 5, "no training was begun again"
    by = dict(zip(REGIMES, table.evidence["test"][0], strict=True))
    assert torch.equal(differences["learnt_ii_differences"][0], by["dlnpf"] - by["frnpf-ii"])
    assert torch.equal(shares["kept"][0], by["flnpf"] - by["frnpf-ii"])
    shutil.rmtree(table.folder.path)
    assert done(BUILT["N17"], tmp_path, **SMALL).found, "what it found does not hang on the table's folder"


def test_the_three_claims_have_the_same_settings_at_every_scale():
    for scale, settings in {"smoke": SMOKE, "laptop": LAPTOP, "paper": PAPER}.items():
        for id in ("N16", "N17", "N24"):
            assert BUILT[id].scales[scale].settings is settings


@pytest.mark.parametrize(
    "row",
    [
        "fc-sgd",
        pytest.param("gconv-adam", marks=pytest.mark.slow),
        pytest.param("vconv-sgd", marks=pytest.mark.slow),
    ],
)
def test_the_other_rows_are_settings(row: str, tmp_path: Path):
    settings = {**SMALL, "epochs": 1, "batch": 1000, "rows": (row,), "rate": None}
    outcome = done(BUILT["N16"], tmp_path, **settings)
    assert outcome.evidence["test"].shape == (1, 5, 3)
    assert ROWS[row].title in outcome.verdict.ours


def test_several_rows_are_one_table(tmp_path: Path):
    evidence: Evidence = done(
        BUILT["N16"], tmp_path, **{**SMALL, "epochs": 1}, rows=("fc-adam", "fc-sgd")
    ).evidence
    assert evidence["rows"] == "fc-adam; fc-sgd"
    assert evidence["test"].shape == (2, 5, 3)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"rows": ("fc-rmsprop",)}, "fc-rmsprop"),
        ({"rows": ()}, "rows"),
        ({"seeds": (0, 1)}, "seeds"),
        ({"seeds": (0, 1, 1)}, "twice"),
        ({"epochs": 0}, "epochs"),
        ({"rate": -1.0}, "rate"),
        ({"beta": 0.0}, "beta"),
    ],
)
def test_settings_that_show_nothing_are_refused(wrong: dict[str, Any], told: str):
    with pytest.raises(PenstockError, match=told):
        Settings(**wrong)


def test_a_network_that_diverged_at_once_has_no_gates_to_take(tmp_path: Path):
    with pytest.raises(PenstockError, match="ReLU network of seed 0 diverged in its first epoch"):
        done(BUILT["N16"], tmp_path, **{**SMALL, "epochs": 1}, rows=("fc-sgd",), rate=1e30)


def test_data_that_are_missing_are_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def no_network(*_: Any, **__: Any) -> Any:
        raise PenstockError("mnist's files are not there: put them into a folder")

    monkeypatch.setattr(regime_training, "load_data", no_network)
    with pytest.raises(PenstockError, match="mnist"):
        done(BUILT["N16"], tmp_path, data="mnist")
