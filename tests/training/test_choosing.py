"""Which way an ensemble is evaluated, and the reason that is shown for it."""

import copy
from typing import ClassVar

import pytest
import torch
from torch import Tensor, nn

from penstock.errors import PenstockError
from penstock.training.loop import train
from penstock.training.member import Member
from penstock.training.recipe import SGD, Recipe
from penstock.training.ways.choosing import choose
from penstock.training.ways.mapped import Mapped
from training.networks import Skip, chain, classes, convolutional, members, normalized, with_dropout

X = classes(9).x


def chosen(make, count: int = 3) -> str:
    ensemble = members(make, count)
    return repr(choose([each.model for each in ensemble], [each.seed for each in ensemble], X, 2**30))


class Branching(Skip):
    """What it does depends on the numbers, which stacked modules cannot ask."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) if x.sum() > 0 else super().forward(-x)


class Scaled(Skip):
    """Members differ in something that no parameter holds."""

    made = 0

    def __init__(self):
        super().__init__()
        Scaled.made += 1
        self.factor = float(Scaled.made)

    def forward(self, x: Tensor) -> Tensor:
        return self.factor * super().forward(x)


def hooked() -> nn.Module:
    model = chain()
    model.get_submodule("1").register_forward_hook(lambda module, inputs, output: None)
    return model


def shared_relu() -> nn.Module:
    relu = nn.ReLU()
    return nn.Sequential(nn.Linear(6, 8), relu, nn.Sequential(nn.Linear(8, 8), relu), nn.Linear(8, 3))


def wide() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 600), nn.Tanh(), nn.Linear(600, 600), nn.Linear(600, 3))


@pytest.mark.parametrize(
    ("make", "count", "told"),
    [
        (chain, 3, "Chain: the model is a chain of linear layers and ReLUs"),
        (chain, 1, "Chain: the model is a chain of linear layers and ReLUs"),
        (shared_relu, 3, "Chain: the model is a chain of linear layers and ReLUs"),
        (Skip, 3, "Mapped: the modules are stacked and run as one"),
        (normalized, 3, "Mapped: the modules are stacked and run as one"),
        (hooked, 3, "Alone: a layer has a hook, which is called for its own module alone"),
        (Skip, 1, "Alone: there is one member of this shape"),
        (with_dropout, 3, "Alone: the model draws random numbers"),
        (convolutional, 3, "Alone: stacked convolutions do not pay on a CPU"),
        (wide, 3, "Alone: stacking does not pay on a CPU for a network of this size"),
        (Scaled, 3, "Alone: stacked, the modules give something else than by themselves"),
    ],
)
def test_the_way_and_its_reason(make, count: int, told: str):
    assert chosen(make, count) == told


def test_what_cannot_be_stacked_says_why():
    assert chosen(Branching).startswith("Alone: the model cannot be stacked (")


def test_the_rehearsal_leaves_no_trace():
    ensemble = members(normalized)
    before = [copy.deepcopy(each.model.state_dict()) for each in ensemble]
    choose([each.model for each in ensemble], [0, 1, 2], X, 2**30)
    for each, state in zip(ensemble, before, strict=True):
        for name, tensor in state.items():
            assert torch.equal(each.model.state_dict()[name], tensor)


class WithItsOwn(Skip):
    asked: ClassVar[list[int]] = []

    def training_way(self, models, x, memory):
        self.asked.append(len(models))
        return Mapped(models)


def test_a_module_may_bring_its_own_way():
    trained = train(members(WithItsOwn), classes(), None, Recipe(1, SGD(0.1)))
    assert trained[0].way == "Mapped: the modules are stacked and run as one"
    assert WithItsOwn.asked == [3]


def test_a_way_that_is_none_is_refused():
    class Wrong(Skip):
        def training_way(self, models, x, memory):
            return "fast"

    with pytest.raises(PenstockError, match="training_way of Wrong gives a str; it must give a"):
        train([Member("one", Wrong().double(), 0)], classes(), None, Recipe(1, SGD(0.1)))


def test_members_that_look_alike_but_are_not_are_trained_as_they_are():
    """`Scaled` hides a factor from its shape; each member must still be trained with its own."""
    ensemble = members(Scaled)
    apart = copy.deepcopy(ensemble)
    train(ensemble, classes(), None, Recipe(3, SGD(0.01), batch=5))
    for member in apart:
        train([member], classes(), None, Recipe(3, SGD(0.01), batch=5))
    for ours, theirs in zip(ensemble, apart, strict=True):
        for one, other in zip(ours.model.parameters(), theirs.model.parameters(), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)
