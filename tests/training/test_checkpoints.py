"""A training that is stopped and started again ends with the numbers of one that never was, to the bit."""

import itertools
import math
import os
import signal
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from penstock.errors import PenstockError
from penstock.training.checkpoints.when import Checkpoints
from penstock.training.loop import train
from penstock.training.recipe import SGD, Adam, Recipe, RMSprop
from penstock.training.schedule import Cosine, Drops
from penstock.training.trained import Trained
from training.networks import Skip, chain, classes, members, normalized, with_dropout

RECIPE = Recipe(4, Adam(1e-2), batch=5, schedule=Cosine())
TRAIN, TEST = classes(23), classes(40, seed=1)
EVERY_STEP = 0.0


def same(ours: list[Trained], theirs: list[Trained]) -> None:
    for one, other in zip(ours, theirs, strict=True):
        assert (one.name, one.best, one.stopped) == (other.name, other.best, other.stopped)
        for states in (
            (one.model.state_dict(), other.model.state_dict()),
            (one.best_state, other.best_state),
        ):
            assert states[0] is not None
            assert states[1] is not None
            for name in states[1]:
                assert torch.equal(states[0][name], states[1][name]), name
        assert one.snapshots.keys() == other.snapshots.keys()
        for epoch, state in other.snapshots.items():
            for name in state:
                assert torch.equal(one.snapshots[epoch][name], state[name])
        assert one.history.keys() == other.history.keys()
        for name in set(other.history) - {"seconds"}:
            np.testing.assert_array_equal(one.history[name], other.history[name])


def run(make, checkpoint=None, *, recipe: Recipe = RECIPE, each_step=None, **others) -> list[Trained]:
    options = {"snapshots": {0, 2}, "also": {"norm": lambda model: sum(p.norm() for p in model.parameters())}}
    return train(
        members(make),
        TRAIN,
        TEST,
        recipe,
        checkpoint=checkpoint,
        each_step=each_step,
        **{**options, **others},
    )


def interrupting(at: int):
    """A callback that interrupts once, after so many steps."""
    calls = itertools.count(1)

    def each_step(place: int, step: int) -> None:
        if place == 2 and next(calls) == at:
            raise KeyboardInterrupt

    return each_step


OPTIMIZERS = [SGD(0.1, 0.9), Adam(1e-2), RMSprop(1e-3, momentum=0.5)]


@pytest.mark.parametrize("make", [chain, Skip, normalized, with_dropout])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_interrupted_anywhere_it_ends_with_the_same_numbers(tmp_path: Path, make, optimizer):
    recipe = Recipe(4, optimizer, batch=5, schedule=Drops(at=(2,), by=0.5))
    whole = run(make, recipe=recipe)
    # five steps an epoch: at the start, in the middle, before the end of one, and at the very end
    for at in (1, 3, 5, 8, 20):
        folder = tmp_path / str(at)
        with pytest.raises(KeyboardInterrupt):
            run(make, Checkpoints(folder, seconds=None), recipe=recipe, each_step=interrupting(at))
        assert len(list(folder.iterdir())) == 1
        same(run(make, Checkpoints(folder, seconds=None), recipe=recipe), whole)


def test_ctrl_c_between_two_steps(tmp_path: Path):
    """A signal, as it comes: the step is finished first, and then a checkpoint is written."""

    def each_step(place: int, step: int) -> None:
        if step == 7:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run(chain, tmp_path, each_step=each_step)
    assert [path.name for path in tmp_path.iterdir()] == ["0-000001-00000002.safetensors"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    same(run(chain, tmp_path), run(chain))


def test_a_training_that_has_ended_is_read_and_not_run_again(tmp_path: Path):
    first = run(chain, tmp_path)
    steps = []
    again = run(chain, tmp_path, each_step=lambda place, step: steps.append(step))
    assert steps == []
    same(again, first)


def test_the_last_two_checkpoints_are_kept(tmp_path: Path):
    run(chain, Checkpoints(tmp_path, seconds=None, epochs=1))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "0-000003-00000000.safetensors",
        "0-000004-00000000.safetensors",
    ]


def test_the_journal_is_told_again_what_the_checkpoint_knows(tmp_path: Path):
    whole: list[dict] = []
    run(chain, journal=lambda **line: whole.append(line))
    with pytest.raises(KeyboardInterrupt):
        run(chain, tmp_path, each_step=interrupting(12))
    told: list[dict] = []
    run(chain, tmp_path, journal=lambda **line: told.append(line))

    def sorted_lines(lines: list[dict]) -> list:
        return sorted(sorted((k, v) for k, v in line.items() if k != "seconds") for line in lines)

    assert sorted_lines(told) == sorted_lines(whole)


def damage(path: Path, how: str) -> None:
    content = bytearray(path.read_bytes())
    match how:
        case "cut":
            content = content[: len(content) * 2 // 3]
        case "a bit":
            content[-5] ^= 1
        case "a bit of the header":
            content[100] ^= 1
        case "empty":
            content = bytearray()
        case "something else":
            content = bytearray(b"a note\n")
    path.write_bytes(content)


@pytest.mark.parametrize("how", ["cut", "a bit", "a bit of the header", "empty", "something else"])
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_used(tmp_path: Path, how: str):
    with pytest.raises(KeyboardInterrupt):
        run(chain, Checkpoints(tmp_path, seconds=EVERY_STEP), each_step=interrupting(8))
    before, last = sorted(tmp_path.iterdir())
    damage(last, how)
    with pytest.warns(UserWarning, match=rf"{last.name} is damaged \(.*going on from {before.name}"):
        same(run(chain, tmp_path), run(chain))


def test_where_every_checkpoint_is_damaged_it_is_refused(tmp_path: Path):
    run(chain, Checkpoints(tmp_path, seconds=None))
    for path in tmp_path.iterdir():
        damage(path, "a bit")
    with pytest.raises(PenstockError, match=r"is damaged \(its checksum is wrong\), and there is no other"):
        run(chain, tmp_path)


FOREIGN = {
    "other members": lambda folder: train(members(chain, 2), TRAIN, TEST, RECIPE, checkpoint=folder),
    "another recipe": lambda folder: run(chain, folder, recipe=Recipe(4, Adam(2e-2), batch=5)),
    "another shape": lambda folder: run(Skip, folder),
    "other data": lambda folder: train(members(chain), classes(24), TEST, RECIPE, checkpoint=folder),
    "other evaluations": lambda folder: run(chain, folder, snapshots={1}),
    "no test set": lambda folder: train(members(chain), TRAIN, None, RECIPE, checkpoint=folder),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_foreign_checkpoint_is_refused(tmp_path: Path, what: str):
    run(chain, Checkpoints(tmp_path, seconds=None))
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(
        PenstockError, match=r"is of another training \(its .* name another folder, or remove"
    ):
        FOREIGN[what](tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


def test_a_member_that_diverged_names_the_last_checkpoint_before(tmp_path: Path):
    ensemble = members(chain)

    def poison(place: int, step: int) -> None:
        if (place, step) == (1, 7):
            ensemble[1].model.get_parameter("0.weight").data[0, 0] = math.inf

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trained = train(
            ensemble, TRAIN, TEST, RECIPE, each_step=poison,
            checkpoint=Checkpoints(tmp_path, seconds=None, epochs=1),
        )  # fmt: skip
    gone = trained[1].diverged
    assert gone is not None
    assert (gone.epoch, gone.step, gone.where) == (2, 8, "the parameter 0.weight is not finite")
    assert gone.checkpoint == tmp_path / "0-000001-00000000.safetensors"
    # it stays, though it is older than the last two
    assert (tmp_path / "0-000001-00000000.safetensors").exists()
    same([trained[0], trained[2]], [run(chain, snapshots=(), also={})[place] for place in (0, 2)])


def test_what_is_no_number_cannot_be_in_a_checkpoint(tmp_path: Path):
    with pytest.raises(PenstockError, match="name gives what is no number"):
        run(chain, tmp_path, also={"name": lambda model: "chain"})
