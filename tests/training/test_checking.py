"""What is wrong is told before the training begins, in one sentence with the way out."""

import copy
import re
from pathlib import Path

import pytest
import torch
from torch import nn

from penstock.errors import PenstockError
from penstock.model.sizes import size_in_bytes
from penstock.training.checkpoints.when import Checkpoints
from penstock.training.examples import Examples
from penstock.training.loop import train
from penstock.training.member import Member
from penstock.training.recipe import SGD, Adam, Recipe, RMSprop
from penstock.training.schedule import Cosine, Drops
from training.networks import chain, classes, members, normalized, signs

TRAIN = classes(23)
RECIPE = Recipe(1, SGD(0.1))
SQUARED = Recipe(1, SGD(0.1), "mean squared")


def frozen() -> list[Member]:
    ensemble = members(chain)
    ensemble[1].model.requires_grad_(False)
    return ensemble


def renamed(names: str) -> list[Member]:
    return [Member(name, each.model, each.seed) for name, each in zip(names, members(chain), strict=True)]


def sharing() -> list[Member]:
    one, two = members(chain, 2)
    two.model.get_submodule("0").weight = one.model.get_parameter("0.weight")
    return [one, two]


def labels(*wrong: int) -> Examples:
    y = TRAIN.y.clone()
    y[4 : 4 + len(wrong)] = torch.tensor(wrong)
    return Examples(TRAIN.x, y)


def spoilt() -> Examples:
    x = TRAIN.x.clone()
    x[3, 1] = torch.nan
    return Examples(x, TRAIN.y)


@pytest.mark.parametrize(
    ("ensemble", "train_set", "test_set", "recipe", "sentence"),
    [
        ([], TRAIN, None, RECIPE, "there is no member to train; give at least one"),
        (renamed("aba"), TRAIN, None, RECIPE, "two members are called 'a'; give each a name of its own"),
        (frozen(), TRAIN, None, RECIPE, "the member 'seed 1' has no parameter that requires gradients"),
        (sharing(), TRAIN, None, RECIPE, "the members 'seed 0' and 'seed 1' share a tensor"),
        (members(chain), TRAIN.to(dtype=torch.float32), None, RECIPE,
         "x of the training set is torch.float32 and the member 'seed 0' is torch.float64"),
        (members(chain), TRAIN, TRAIN.to(dtype=torch.float32), RECIPE, "x of the test set is torch.float32"),
        (members(chain), spoilt(), None, RECIPE,
         "x of the training set has a number that is not finite in row 3; leave the row out"),
        (members(chain), labels(3), None, RECIPE,
         "row 4 of the training set has the label 3, and the 3 outputs of the member 'seed 0' stand for"),
        (members(chain), TRAIN, labels(-1), RECIPE, "row 4 of the test set has the label -1"),
        (members(chain), Examples(TRAIN.x, TRAIN.y.double()), None, RECIPE,
         "cross entropy takes one whole number an example, and y of the training set is torch.float64"),
        (members(chain), TRAIN, None, SQUARED,
         "a squared loss takes targets in floating point, and y of the training set is torch.int64"),
        (members(chain), signs(), None, SQUARED,
         "'seed 0' gives outputs of shape 3 an example and y of the training set has 1; reshape y"),
        (members(chain, outputs=1), Examples(TRAIN.x, TRAIN.y.double()), None, SQUARED,
         "y of the training set has 1 number; reshape y, for instance y.reshape(23, 1)"),
        (members(chain, outputs=1), Examples(TRAIN.x, signs().y.float()), None, SQUARED,
         "y of the training set is torch.float32 and the outputs of the member 'seed 0' are torch.float64"),
        (members(normalized), TRAIN, None, Recipe(1, SGD(0.1), batch=11),
         "the last batch of an epoch has one example, and BatchNorm in the member 'seed 0' takes"),
        (members(chain), Examples(TRAIN.x[:, :5], TRAIN.y), None, RECIPE,
         "the layer 0 (Linear) takes 6 features and is given 5"),
        (members(chain), TRAIN, Examples(TRAIN.x[:, :5], TRAIN.y), RECIPE,
         "an example of the test set has shape 5 and one of the training set 6"),
        (members(lambda: nn.Sequential(nn.Unflatten(1, (3, 2)), nn.Linear(2, 3))), TRAIN, None, RECIPE,
         "cross entropy takes one row of outputs an example, and the member 'seed 0' gives 3×3"),
    ],
)  # fmt: skip
def test_it_is_refused(ensemble, train_set, test_set, recipe, sentence):
    before = [copy.deepcopy(each.model.state_dict()) for each in ensemble]
    with pytest.raises(PenstockError, match=re.escape(sentence)):
        train(ensemble, train_set, test_set, recipe)
    for member, state in zip(ensemble, before, strict=True):
        for name, tensor in state.items():
            assert torch.equal(member.model.state_dict()[name], tensor)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"also": {"epoch": len}}, "a measurement cannot be called 'epoch'"),
        ({"evaluate_at": 0}, "an evaluation comes every so many epochs, at least every 1, not every 0"),
        ({"memory": "much"}, "memory='much' is no size"),
        ({"memory": 0}, "memory=0 is no size"),
    ],
)
def test_options_are_looked_at(options, sentence):
    with pytest.raises(PenstockError, match=re.escape(sentence)):
        train(members(chain), TRAIN, None, RECIPE, **options)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: SGD(0.0), "the rate of SGD is above 0, not 0.0"),
        (lambda: SGD(0.1, momentum=1.0), "the momentum of SGD is at least 0 and below 1, not 1.0"),
        (lambda: Adam(0.1, betas=(0.9, 1.0)), "Adam's betas are at least 0 and below 1, not (0.9, 1.0)"),
        (lambda: Adam(0.1, epsilon=-1.0), "the epsilon of Adam is 0 or more, not -1.0"),
        (lambda: RMSprop(0.1, decay=-0.1), "the decay of RMSprop is at least 0 and below 1, not -0.1"),
        (lambda: Recipe(-1, SGD(0.1)), "there cannot be -1 epochs"),
        (lambda: Recipe(1, SGD(0.1), batch=0), "a batch has at least one example, not 0; batch=None is all"),
        (lambda: Recipe(1, SGD(0.1), stop_at=1.5), "stop_at is a share of the training examples, not 1.5"),
        (lambda: Drops(at=(1,), by=0.0), "a rate drops by a factor above 0, not 0.0"),
        (lambda: Cosine(end=-1.0), "a rate ends at a factor of 0 or more, not -1.0"),
        (lambda: Checkpoints(Path(), seconds=-1.0), "between two checkpoints there are 0 seconds or more"),
    ],
)  # fmt: skip
def test_numbers_that_make_no_sense(make, sentence):
    with pytest.raises(PenstockError, match=re.escape(sentence)):
        make()


@pytest.mark.parametrize(
    ("text", "size"), [("2GiB", 2**31), ("500 MB", 500_000_000), (4096, 4096), ("1.5KiB", 1536), ("7", 7)]
)
def test_a_size(text, size):
    assert size_in_bytes(text) == size
