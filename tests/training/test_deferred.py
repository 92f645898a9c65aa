"""Steps that are looked at only now and then, as on a GPU, are the steps that are looked at each time."""

import copy

import pytest
import torch

from penstock.training.asking import Asked
from penstock.training.ensemble import Ensemble
from penstock.training.looking import Looking
from penstock.training.member import Member
from penstock.training.recipe import SGD, Adam, Recipe
from penstock.training.running import Running
from penstock.training.ways.choosing import choose
from training.networks import Skip, chain, classes, members, normalized

TRAIN, TEST = classes(23), classes(40, seed=1)


def run(ensemble: list[Member], recipe: Recipe, *, deferred: bool) -> Ensemble:
    for member in ensemble:
        member.model.train()
    way = choose([each.model for each in ensemble], [each.seed for each in ensemble], TRAIN.x, 2**30)
    made = Ensemble(ensemble, way, TRAIN, recipe, deferred=deferred)
    asked = Asked()
    Running(made, range(len(ensemble)), asked, Looking(made, asked, TEST, 100), None).run()
    return made


def both(ensemble: list[Member], recipe: Recipe) -> tuple[Ensemble, Ensemble]:
    return run(copy.deepcopy(ensemble), recipe, deferred=False), run(ensemble, recipe, deferred=True)


def assert_same(one: Ensemble, other: Ensemble, place: int) -> None:
    for ours, theirs in zip(
        one.models[place].state_dict().values(), other.models[place].state_dict().values(), strict=True
    ):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("make", [chain, Skip, normalized])
@pytest.mark.parametrize("batch", [None, 5, 3])
def test_they_end_with_the_same_numbers(make, batch):
    plain, deferred = both(members(make), Recipe(4, Adam(1e-2), batch=batch))
    for place in range(3):
        assert_same(plain, deferred, place)
        assert plain.trained[place].best == deferred.trained[place].best


@pytest.mark.parametrize("make", [chain, Skip, normalized])
def test_a_member_that_diverges_is_left_where_it_was_and_named_with_its_step(make):
    ensemble = [
        Member(each.name, each.model, each.seed, SGD(1e200 if place == 1 else 0.1))
        for place, each in enumerate(members(make))
    ]
    # running statistics want more than one example a batch
    plain, deferred = both(ensemble, Recipe(4, SGD(0.1), batch=3 if make is normalized else 1))
    assert plain.trained[1].diverged is not None
    assert plain.trained[1].diverged == deferred.trained[1].diverged
    for place in (0, 2):
        assert_same(plain, deferred, place)
    for ours, theirs in zip(plain.models[1].parameters(), deferred.models[1].parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_a_member_that_stops_is_left_where_it_was():
    ensemble = [
        Member(each.name, each.model, each.seed, SGD(0.3 if place == 1 else 1e-4))
        for place, each in enumerate(members(chain))
    ]
    plain, deferred = both(ensemble, Recipe(60, SGD(0.1), batch=5, stop_at=0.8))
    assert plain.trained[1].stopped == deferred.trained[1].stopped
    assert plain.trained[1].stopped is not None
    for place in range(3):
        assert_same(plain, deferred, place)
