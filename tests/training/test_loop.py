"""What `train` does besides the steps: evaluation, snapshots, stopping, groups, and what it leaves behind."""

import copy
import math

import numpy as np
import pytest
import torch
from torch import nn

import penstock
from oracle.training import train_alone
from penstock.training.examples import Examples
from penstock.training.loop import train
from penstock.training.member import Member
from penstock.training.recipe import SGD, Adam, Recipe, RMSprop
from penstock.training.schedule import Constant, Cosine, Drops
from training.networks import Skip, chain, classes, convolutional, members, normalized, signs, with_dropout

TRAIN, TEST = classes(23), classes(40, seed=1)
RECIPE = Recipe(6, Adam(1e-2), batch=5)


def assert_same(model: nn.Module, other: nn.Module, tolerance: float = 1e-8) -> None:
    for ours, theirs in zip(model.state_dict().values(), other.state_dict().values(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)


# The same as alone


@pytest.mark.parametrize("schedule", [Constant(), Drops(at=(2, 4), by=0.5), Cosine(end=0.1)])
def test_a_schedule_is_followed(schedule):
    recipe = Recipe(6, SGD(0.1, 0.9), batch=5, schedule=schedule)
    ensemble = members(chain)
    alone = copy.deepcopy(ensemble[1].model)
    train(ensemble, TRAIN, None, recipe)
    train_alone(alone, TRAIN, recipe, 1)
    assert_same(ensemble[1].model, alone)


@pytest.mark.parametrize("make", [chain, Skip])
@pytest.mark.parametrize(
    "optimizers",
    [
        (Adam(1e-2), Adam(1e-3, betas=(0.8, 0.99)), Adam(1e-3, betas=(0.8, 0.99))),
        (SGD(0.1), SGD(0.05, momentum=0.9), SGD(0.1)),
        (RMSprop(1e-3), RMSprop(2e-3, decay=0.9), RMSprop(1e-3, momentum=0.5)),
        (SGD(0.1), Adam(1e-2), SGD(0.2)),  # of two kinds: two groups
    ],
)
def test_members_have_optimizers_of_their_own(make, optimizers):
    plain = members(make)
    ensemble = [
        Member(each.name, each.model, each.seed, optimizer)
        for each, optimizer in zip(plain, optimizers, strict=True)
    ]
    alone = [copy.deepcopy(each.model) for each in ensemble]
    train(ensemble, TRAIN, None, RECIPE)
    for member, model, optimizer in zip(ensemble, alone, optimizers, strict=True):
        train_alone(model, TRAIN, Recipe(6, optimizer, batch=5), member.seed)
        assert_same(member.model, model)


def test_members_of_several_shapes_are_trained_group_by_group():
    wide = nn.Sequential(nn.Linear(6, 30), nn.ReLU(), nn.Linear(30, 3)).double()
    first, second = members(chain, 2)
    ensemble = [first, Member("wide", wide, 7), second]
    alone = [copy.deepcopy(each.model) for each in ensemble]
    trained = train(ensemble, TRAIN, TEST, RECIPE)
    assert [each.name for each in trained] == ["seed 0", "wide", "seed 1"]
    for member, model in zip(ensemble, alone, strict=True):
        train_alone(model, TRAIN, RECIPE, member.seed)
        assert_same(member.model, model)


def test_what_does_not_require_gradients_stays_as_it_is():
    ensemble = members(chain)
    for each in ensemble:
        each.model.get_parameter("0.weight").requires_grad_(False)
        each.model.get_parameter("0.bias").requires_grad_(False)
    alone = [copy.deepcopy(each.model) for each in ensemble]
    train(ensemble, TRAIN, None, RECIPE)
    for member, model in zip(ensemble, alone, strict=True):
        assert torch.equal(member.model.get_parameter("0.weight"), model.get_parameter("0.weight"))
        train_alone(model, TRAIN, RECIPE, member.seed)
        assert_same(member.model, model)


class Tied(nn.Module):
    """One weight at two places."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 3)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.last(torch.relu(self.second(torch.relu(self.first(x)))))


def test_a_tied_weight_is_one_weight():
    ensemble = members(Tied)
    alone = [copy.deepcopy(each.model) for each in ensemble]
    trained = train(ensemble, TRAIN, None, RECIPE)
    assert trained[0].way.startswith("Mapped")
    for member, model in zip(ensemble, alone, strict=True):
        train_alone(model, TRAIN, RECIPE, member.seed)
        assert_same(member.model, model)


# What is seen on the way


@pytest.mark.parametrize("make", [chain, Skip, normalized, with_dropout])
def test_scores_are_those_of_the_module_in_evaluation_mode(make):
    ensemble = members(make)
    trained = train(ensemble, TRAIN, TEST, RECIPE, memory=3000)  # a few examples at a time
    for each in trained:
        with torch.no_grad():
            outputs = each.model.eval()(TEST.x)
        history = each.history
        np.testing.assert_allclose(
            history["test_loss"][-1], nn.functional.cross_entropy(outputs, TEST.y).item(), rtol=1e-10
        )
        right = (outputs.argmax(1) == TEST.y).double().mean().item()
        assert history["test_accuracy"][-1] == pytest.approx(right)
        assert list(history["epoch"]) == [1, 2, 3, 4, 5, 6]
        assert (np.diff(history["seconds"]) > 0).all()


def test_training_accuracy_is_the_average_over_the_batches_of_the_epoch():
    """With the full batch there is one, seen before its step."""
    ensemble = members(chain)
    start = [copy.deepcopy(each.model) for each in ensemble]
    trained = train(ensemble, TRAIN, None, Recipe(1, Adam(1e-2), batch=None))
    for each, model in zip(trained, start, strict=True):
        right = (model(TRAIN.x).argmax(1) == TRAIN.y).double().mean().item()
        assert each.history["train_accuracy"][0] == pytest.approx(right)
        assert each.best is None
        assert math.isnan(each.history["test_accuracy"][0])


@pytest.mark.parametrize("loss", ["mean squared", "half sum of squares"])
def test_targets_of_plus_and_minus_one_are_right_by_their_sign(loss):
    test = signs(40, seed=1)
    trained = train(members(chain, outputs=1), signs(), test, Recipe(3, SGD(1e-3), loss, batch=5))
    outputs = trained[0].model(test.x)
    right = (outputs.sign() == test.y).double().mean().item()
    assert trained[0].history["test_accuracy"][-1] == pytest.approx(right)
    squares = (outputs - test.y).square()
    wanted = squares.mean() if loss == "mean squared" else squares.sum() / 2
    assert trained[0].history["test_loss"][-1] == pytest.approx(wanted.item(), rel=1e-10)


def test_targets_that_say_nothing_of_right_and_wrong_have_no_accuracy():
    data = Examples(TRAIN.x, torch.rand(23, 1).double())
    trained = train(members(chain, outputs=1), data, data, Recipe(2, SGD(1e-3), "mean squared"))
    assert np.isnan(trained[0].history["train_accuracy"]).all()
    assert np.isnan(trained[0].history["test_accuracy"]).all()
    assert trained[0].best is None


def test_the_best_weights_are_those_of_the_highest_test_accuracy():
    trained = train(members(chain), TRAIN, TEST, Recipe(12, SGD(0.5), batch=5), snapshots=range(13))
    for each in trained:
        assert each.best is not None
        assert each.best_state is not None
        accuracy = each.history["test_accuracy"]
        assert each.best == (int(accuracy.argmax()) + 1, accuracy.max())
        for name, tensor in each.snapshots[each.best.epoch].items():
            assert torch.equal(tensor, each.best_state[name])


def test_snapshots_are_the_weights_after_those_epochs():
    start = copy.deepcopy(members(chain)[0].model.state_dict())
    trained = train(members(chain), TRAIN, None, RECIPE, snapshots={0, 3, 6})
    shorter = train(members(chain), TRAIN, None, Recipe(3, RECIPE.optimizer, batch=5))
    snapshots = trained[0].snapshots
    assert list(snapshots) == [0, 3, 6]
    for name, tensor in start.items():
        assert torch.equal(snapshots[0][name], tensor)
        assert torch.equal(snapshots[3][name], shorter[0].model.state_dict()[name])
        assert torch.equal(snapshots[6][name], trained[0].model.state_dict()[name])


@pytest.mark.parametrize(("at", "epochs"), [(2, [2, 4, 6]), (4, [4, 6]), ({1, 5}, [1, 5, 6])])
def test_evaluation_at_chosen_epochs_and_after_the_last(at, epochs):
    trained = train(members(chain), TRAIN, TEST, RECIPE, evaluate_at=at)
    assert list(trained[0].history["epoch"]) == epochs


def test_also_measures_the_module_at_each_evaluation():
    modes = []

    def norms(model: nn.Module) -> torch.Tensor:
        modes.append(model.training)
        return torch.stack([parameter.norm() for parameter in model.parameters()])

    trained = train(members(chain), TRAIN, None, RECIPE, also={"norms": norms}, snapshots={6})
    assert trained[1].history["norms"].shape == (6, 5)
    last = [trained[1].snapshots[6][name].norm().item() for name, _ in trained[1].model.named_parameters()]
    np.testing.assert_allclose(trained[1].history["norms"][-1], last)
    assert not any(modes)


def test_the_journal_is_told_each_evaluation_of_each_member():
    lines = []
    train(members(chain, 2), TRAIN, TEST, RECIPE, evaluate_at=3, journal=lambda **line: lines.append(line))
    assert [(line["member"], line["epoch"]) for line in lines] == [
        ("seed 0", 3), ("seed 1", 3), ("seed 0", 6), ("seed 1", 6),
    ]  # fmt: skip
    assert all(isinstance(value, str | int | float) for line in lines for value in line.values())


def test_progress_follows_epochs_and_steps():
    told = []

    def follow(steps, what, total):
        told.append((what, total))
        yield from steps

    train(members(chain, 2), TRAIN, TEST, Recipe(2, SGD(0.1), batch=5), progress=follow)
    assert told == [("epochs", 2), ("steps of epoch 1", 5), ("steps of epoch 2", 5)]


def test_monitor_and_switches_plug_in_as_into_any_loop():
    ensemble, probe = members(chain, 2), TRAIN.x[:8]
    monitors = [penstock.Monitor(each.model, probe, every=5) for each in ensemble]
    switches = penstock.Switches(ensemble[1].model, probe)

    def look(place: int, step: int) -> None:
        monitors[place].step()
        if place == 1:
            switches.step()

    train(ensemble, TRAIN, None, RECIPE, each_step=look)
    apart = members(chain, 2)
    train(apart, TRAIN, None, RECIPE)
    for watched, unwatched in zip(ensemble, apart, strict=True):
        assert_same(watched.model, unwatched.model, tolerance=0)
    assert [monitor.steps for monitor in monitors] == [30, 30]
    assert switches.steps == 30
    final = penstock.capture(ensemble[1].model, probe)
    assert monitors[1].last["1"].to_dense().equal(final["1"].to_dense())
    assert sum(monitors[1].history["flipped"]["1"]) > 0
    assert switches.found


# Stopping


def test_a_member_stops_at_a_training_accuracy_and_the_others_go_on():
    slow, quick = SGD(1e-4), SGD(0.3)
    ensemble = [
        Member(each.name, each.model, each.seed, quick if place == 1 else slow)
        for place, each in enumerate(members(chain))
    ]
    apart = [copy.deepcopy(each.model) for each in ensemble]
    trained = train(ensemble, TRAIN, TEST, Recipe(60, slow, batch=5, stop_at=0.8), snapshots={60})
    assert [each.stopped is None for each in trained] == [True, False, True]
    stopped = trained[1].stopped
    assert stopped is not None
    assert 1 < stopped < 60
    history = trained[1].history
    assert list(history["epoch"]) == list(range(1, stopped + 1))
    assert history["train_accuracy"][-1] >= 0.8 > history["train_accuracy"][:-1].max()
    train_alone(apart[1], TRAIN, Recipe(stopped, quick, batch=5), 1)
    assert_same(trained[1].model, apart[1])
    train_alone(apart[0], TRAIN, Recipe(60, slow, batch=5), 0)
    assert_same(trained[0].model, apart[0])
    assert [list(each.snapshots) for each in trained] == [[60], [], [60]]


@pytest.mark.parametrize("make", [chain, Skip, convolutional, with_dropout])
def test_a_member_that_diverges_stops_and_the_others_are_as_without_it(make):
    ensemble = members(make)
    wild = [
        Member(each.name, each.model, each.seed, SGD(1e200 if place == 1 else 0.1))
        for place, each in enumerate(ensemble)
    ]
    trained = train(wild, TRAIN, TEST, RECIPE)
    gone = trained[1].diverged
    assert gone is not None
    assert gone.epoch == 1
    assert 1 < gone.step <= 4
    assert "is not finite" in gone.where or "gives what is not finite" in gone.where
    assert gone.checkpoint is None
    assert trained[1].history == {}
    calm = [
        Member(each.name, each.model, each.seed, SGD(0.05 if place == 1 else 0.1))
        for place, each in enumerate(members(make))
    ]
    without = train(calm, TRAIN, TEST, RECIPE)
    for place in (0, 2):
        assert_same(trained[place].model, without[place].model, tolerance=0)
        assert trained[place].diverged is None
        np.testing.assert_array_equal(
            trained[place].history["test_loss"], without[place].history["test_loss"]
        )


def test_the_layer_where_numbers_stop_being_finite_is_named():
    ensemble = members(chain)
    with torch.no_grad():
        ensemble[2].model.get_parameter("2.weight").fill_(1e200)
        ensemble[2].model.get_parameter("4.weight").fill_(1e200)
    trained = train(ensemble, TRAIN, None, RECIPE)
    assert str(trained[2].diverged) == (
        "diverged at step 1 (epoch 1): the layer 4 (Linear) gives what is not finite"
    )


# What is left behind


def test_models_are_left_in_their_mode_with_their_own_tensors():
    ensemble = members(normalized)
    ensemble[0].model.eval()
    ensemble[1].model.get_submodule("1").eval()
    pointers = [[each.data_ptr() for each in member.model.parameters()] for member in ensemble]
    torch.manual_seed(3)
    before = torch.get_rng_state()
    trained = train(ensemble, TRAIN, TEST, RECIPE)
    assert torch.equal(torch.get_rng_state(), before)
    assert [[m.training for m in each.model.modules()] for each in ensemble] == [
        [False] * 5, [True, True, False, True, True], [True] * 5,
    ]  # fmt: skip
    assert [[each.data_ptr() for each in member.model.parameters()] for member in ensemble] == pointers
    for each in trained:
        assert all(parameter.grad is None for parameter in each.model.parameters())
    # in training mode all the same: the statistics of the first have moved
    assert ensemble[0].model.get_buffer("1.num_batches_tracked") == 30
    # but for what its owner has set apart
    assert ensemble[1].model.get_buffer("1.num_batches_tracked") == 0


def test_after_an_interruption_the_modules_own_their_weights_again():
    ensemble = members(chain)
    pointers = [each.data_ptr() for each in ensemble[0].model.parameters()]

    def each_step(place: int, step: int) -> None:
        if step == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(ensemble, TRAIN, TEST, RECIPE, each_step=each_step)
    alone = members(chain)[0].model
    assert [each.data_ptr() for each in ensemble[0].model.parameters()] == pointers
    assert not torch.equal(ensemble[0].model.get_parameter("0.weight"), alone.get_parameter("0.weight"))


# Edges


def test_no_epochs_is_no_training():
    ensemble = members(chain)
    start = copy.deepcopy(ensemble[0].model.state_dict())
    trained = train(ensemble, TRAIN, TEST, Recipe(0, SGD(0.1)), snapshots={0})
    assert trained[0].history == {}
    assert trained[0].best is None
    for name, tensor in start.items():
        assert torch.equal(trained[0].snapshots[0][name], tensor)
        assert torch.equal(trained[0].model.state_dict()[name], tensor)


def test_a_batch_larger_than_the_data_is_the_full_batch_in_some_order():
    ensemble, full = members(chain), members(chain)
    train(ensemble, TRAIN, None, Recipe(5, SGD(0.1), batch=100))
    train(full, TRAIN, None, Recipe(5, SGD(0.1), batch=None))
    assert_same(ensemble[0].model, full[0].model)


def test_members_and_examples_are_moved_to_a_device_before_anything_else():
    """The meta device has no numbers to train with: it is refused, after the move."""
    ensemble = members(chain)
    with pytest.raises(penstock.PenstockError, match="meta"):
        train(ensemble, TRAIN, None, RECIPE, device="meta")
    assert ensemble[0].model.get_parameter("0.weight").is_meta
    (one,) = train(members(chain, 1), TRAIN, None, RECIPE, device="cpu")
    assert len(one.history["epoch"]) == 6


def test_one_example_is_enough():
    one = TRAIN.select(slice(0, 1))
    trained = train(members(chain), one, one, Recipe(30, SGD(0.5)))
    assert trained[0].history["test_accuracy"][-1] == 1
