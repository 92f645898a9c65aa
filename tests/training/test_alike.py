"""An ensemble trained at once is each member trained alone, by an ordinary PyTorch loop."""

import copy

import numpy as np
import pytest
import torch

from oracle.training import train_alone
from penstock.training.loop import train
from penstock.training.recipe import SGD, Adam, Recipe, RMSprop
from training.networks import (
    Skip,
    chain,
    classes,
    convolutional,
    members,
    normalized,
    signs,
    with_dropout,
)

OPTIMIZERS = {
    "sgd": SGD(0.1),
    "momentum": SGD(0.05, momentum=0.9),
    "adam": Adam(3e-3),
    "rmsprop": RMSprop(1e-3),
}
WAYS = {
    "Chain": chain,
    "Mapped": Skip,
    "Mapped, running statistics": normalized,
    "Alone, dropout": with_dropout,
    "Alone, convolutions": convolutional,
}


def agree(recipe: Recipe, make, way: str) -> None:
    data = classes() if recipe.loss == "cross entropy" else signs()
    outputs = 3 if recipe.loss == "cross entropy" else 1
    ensemble = members(make, outputs=outputs)
    apart = [copy.deepcopy(member.model) for member in ensemble]
    trained = train(ensemble, data, None, recipe)
    for member, model, done in zip(ensemble, apart, trained, strict=True):
        assert done.way.startswith(way)
        torch.manual_seed(member.seed)
        losses = train_alone(model, data, recipe, member.seed)
        assert len(losses) >= 50
        if recipe.batch is None:
            np.testing.assert_allclose(done.history["train_loss"], losses, rtol=1e-8)
        for (name, ours), theirs in zip(
            member.model.state_dict().items(), model.state_dict().values(), strict=True
        ):
            torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-8, msg=lambda m, n=name: f"{n}: {m}")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("batch", [None, 5])
@pytest.mark.parametrize("loss", ["cross entropy", "mean squared", "half sum of squares"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_members_trained_at_once_equal_members_trained_alone(optimizer, loss, batch, way):
    # 23 examples in batches of five: the last one is smaller
    wanted = OPTIMIZERS[optimizer]
    if loss == "half sum of squares" and isinstance(wanted, SGD):
        wanted = SGD(wanted.rate / 25, wanted.momentum)
    recipe = Recipe(50 if batch is None else 10, wanted, loss, batch)
    agree(recipe, WAYS[way], way.split(",")[0])
