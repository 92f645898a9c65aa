"""Decoupled networks trained at once are what each of them is, trained alone in an ordinary loop."""

import copy

import pytest
import torch
from torch import nn

from decoupled.ways.pairs import PAIRS, pairs
from oracle.training import train_alone
from penstock import PenstockError, capture, decouple
from penstock.lab.models.fully_connected import relu_network
from penstock.lab.models.initialization import Gaussian
from penstock.training.examples import Examples
from penstock.training.loop import train
from penstock.training.member import Member
from penstock.training.recipe import SGD, Adam, Recipe
from training.networks import chain, classes, with_dropout

EPOCHS = 10


@pytest.mark.parametrize("memory", ["1GiB", 4000, 500], ids=["kept", "packed", "computed again"])
@pytest.mark.parametrize("name", PAIRS)
def test_an_ensembles_members_are_those_trained_alone(name: str, memory: str | int):
    members = pairs(name)
    alone = [copy.deepcopy(member.model) for member in members]
    recipe = Recipe(EPOCHS, Adam(3e-3), batch=5)
    trained = train(members, classes(23), classes(40, seed=1), recipe, memory=memory)
    assert trained[0].way.startswith(PAIRS[name][1] + ":")
    for member, model in zip(trained, alone, strict=True):
        train_alone(model, classes(23), recipe, members[trained.index(member)].seed)
        for key, tensor in model.state_dict().items():
            torch.testing.assert_close(member.model.state_dict()[key], tensor, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", [name for name, (_, way) in PAIRS.items() if way.startswith("Fixed")])
def test_gates_that_fit_are_kept_and_others_are_computed_again(name: str):
    told = [
        train(pairs(name), classes(23), None, Recipe(1, SGD(0.1)), memory=memory)[0].way
        for memory in ("1GiB", 500)
    ]
    assert "kept" in told[0]
    assert "computed at every step" in told[1]


@pytest.mark.parametrize("name", ["fixed chain", "fixed, pooled, with PReLU"])
def test_the_features_stay_and_the_values_move(name: str):
    members = pairs(name)
    before = [copy.deepcopy(member.model.state_dict()) for member in members]
    train(members, classes(23), None, Recipe(2, SGD(0.1)))
    for member, state in zip(members, before, strict=True):
        moved = {
            key for key, tensor in member.model.state_dict().items() if not torch.equal(tensor, state[key])
        }
        assert moved
        assert all(key.startswith("value.") for key in moved)


def test_gates_from_outside_belong_to_their_examples():
    torch.manual_seed(0)
    data = classes(23)
    gates = [torch.rand(23, 8) < 0.5, torch.rand(23, 7).double()]
    members = [Member("one", decouple(chain().double(), gates=gates, train="value"), 3)]
    alone = copy.deepcopy(members[0].model)
    recipe = Recipe(EPOCHS, Adam(3e-3), batch=5)
    train(members, data, None, recipe)
    order, optimizer = (
        torch.Generator().manual_seed(3),
        torch.optim.Adam(alone.get_submodule("value").parameters(), 3e-3),
    )
    for _ in range(EPOCHS):
        for rows in torch.randperm(23, generator=order).split(5):
            optimizer.zero_grad()
            with alone.feature.rows(rows):  # pyright: ignore[reportAttributeAccessIssue, reportCallIssue]
                nn.functional.cross_entropy(alone(data.x[rows]), data.y[rows]).backward()
            optimizer.step()
    for key, tensor in alone.state_dict().items():
        torch.testing.assert_close(members[0].model.state_dict()[key], tensor, rtol=0, atol=1e-8)


def test_gates_from_outside_say_nothing_of_a_test_set():
    gates = [torch.rand(23, 8) < 0.5, torch.rand(23, 7) < 0.5]
    members = [Member("one", decouple(chain().double(), gates=gates, train="value"), 0)]
    with pytest.raises(PenstockError, match="the test set has none; leave the test set out"):
        train(members, classes(23), classes(40, seed=1), Recipe(1, SGD(0.1)))


def test_a_record_is_as_good_as_the_network_that_it_is_of():
    model, data = chain().double(), classes(23)
    record = capture(model, data.x)
    by_record = Member("record", decouple(model, gates=record, train="value"), 0)
    by_network = Member("network", decouple(model, train="value"), 0)
    recipe = Recipe(EPOCHS, Adam(3e-3), batch=5)
    (one,), (other,) = (train([member], data, None, recipe) for member in (by_record, by_network))
    for ours, its in zip(
        one.model.get_submodule("value").parameters(),
        other.model.get_submodule("value").parameters(),
        strict=True,
    ):
        torch.testing.assert_close(ours, its, rtol=0, atol=1e-8)


def test_values_that_draw_at_random_are_trained_alone():
    members = [Member("one", decouple(with_dropout().double(), train="value"), 0)]
    assert train(members, classes(23), None, Recipe(1, SGD(0.1)))[0].way.startswith("Alone: ")


def test_images_are_flattened_by_the_chain_itself():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), *chain().children()).double()
    data = classes(23)
    images = Examples(data.x.reshape(23, 1, 2, 3), data.y)
    flat, square = (
        train([Member("one", decouple(each, train="value"), 0)], examples, None, Recipe(2, Adam(1e-2)))
        for each, examples in ((model[1:], data), (model, images))
    )
    assert flat[0].history["train_loss"].tolist() == square[0].history["train_loss"].tolist()


def test_a_network_on_sequences_is_no_chain():
    """Linear layers act on the last dimension, so an example that is more than a vector is left to others."""
    network = relu_network((3, 5, 2), Gaussian(1.0), torch.Generator().manual_seed(0))

    class OnSequences(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = network

        def forward(self, x):
            return self.body(x).mean(1)

    x = torch.randn(12, 4, 3, dtype=torch.float64)
    data = Examples(x, torch.randint(2, (12,)))
    trained = train(
        [Member("one", decouple(OnSequences(), train="value"), 0)], data, None, Recipe(1, SGD(0.1))
    )
    assert trained[0].way.startswith("Fixed:")
