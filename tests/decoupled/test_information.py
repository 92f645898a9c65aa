"""`gate_information`: how much of a trained network is in its gates (N, first version, Definition 5.1)."""

import copy

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from penstock import PenstockError, gate_information
from penstock.decoupled.supervision import labelled
from penstock.training.recipe import Adam


def signs(n, seed, others=12):
    """Two classes: whether two of the inputs have one sign. The other inputs say nothing, so that gates have
    to find the two."""
    x = torch.randn(n, 2 + others, generator=torch.Generator().manual_seed(seed))
    return x, (x[:, 0] * x[:, 1] > 0).long()


def learnt(norm=False):
    """A small network that has learnt it."""
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(14, 16),
        nn.BatchNorm1d(16) if norm else nn.Identity(),
        nn.ReLU(),
        nn.Linear(16, 16),
        nn.ReLU(),
        nn.Linear(16, 2),
    )
    x, y = signs(1000, 0)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(200):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    return model.eval()


@pytest.fixture(scope="module")
def model():
    return learnt()


def test_trained_gates_alone_give_back_what_the_network_knows(model):
    found = gate_information(
        model, signs(1000, 0), signs(1000, 1), epochs=200, seeds=3, optimizer=Adam(1e-2), batch=None
    )
    x, y = signs(1000, 1)
    assert found.model == float((model(x).argmax(1) == y).double().mean())
    assert found.model > 0.85
    assert found.gates.shape == found.random.shape == (3,)
    assert float(found.gates.mean()) > float(found.random.mean()) + 0.05
    assert found.has_gained
    low, high = found.interval(found.gates)
    assert low <= float(found.gates.mean()) <= high
    assert 0.5 < float(found.share.mean()) < 1.5
    assert str(found).splitlines()[0].startswith("the network itself")


def test_nothing_is_said_of_a_share_where_random_gates_do_as_well(model):
    untrained = nn.Sequential(nn.Linear(14, 8), nn.ReLU(), nn.Linear(8, 2)).eval()
    found = gate_information(untrained, signs(60, 0), signs(60, 1), epochs=3, seeds=2)
    assert not found.has_gained
    assert "random gates do as well" in str(found)


def test_the_model_is_left_as_it_was_found(model):
    before = copy.deepcopy(model.state_dict())
    model.train()
    state = torch.get_rng_state()
    gate_information(model, signs(40, 0), signs(40, 1), epochs=1, seeds=1)
    assert model.training
    assert torch.equal(torch.get_rng_state(), state)
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name])
    model.eval()


def test_pairs_arrays_data_sets_and_shuffled_loaders_are_the_same_data(model):
    x, y = signs(48, 0)
    given = [
        (x, y),
        (x.numpy(), np.asarray(y)),
        TensorDataset(x, y),
        DataLoader(TensorDataset(x, y), batch_size=7),
    ]
    found = [gate_information(model, each, (x, y), epochs=2, seeds=1).gates for each in given]
    assert all(torch.equal(each, found[0]) for each in found)
    gate_information(model, DataLoader(TensorDataset(x, y), shuffle=True), (x, y), epochs=1, seeds=1)


def test_normalization_and_a_frozen_network():
    model = learnt(norm=True).requires_grad_(False)
    found = gate_information(model, signs(64, 0), signs(64, 1), epochs=1, seeds=2)
    assert bool(torch.isfinite(found.gates).all())
    assert not any(parameter.requires_grad for parameter in model.parameters())


def test_targets_of_one_and_minus_one(model):
    one = nn.Sequential(nn.Linear(14, 8), nn.ReLU(), nn.Linear(8, 1))
    x, y = signs(40, 0)
    pair = x, (2.0 * y - 1)[:, None]
    own = float(((one(x) > 0).long()[:, 0] == y).double().mean())
    assert gate_information(one, pair, pair, epochs=1, seeds=1).model == own


def test_what_cannot_be_asked_is_refused_in_a_sentence(model):
    x, y = signs(20, 0)
    with pytest.raises(PenstockError, match="do not say what is right"):
        gate_information(model, (x, y), (x, torch.randn(20, 2)), epochs=1)
    with pytest.raises(PenstockError, match="seeds=0 retrains nothing"):
        gate_information(model, (x, y), (x, y), epochs=1, seeds=0)
    with pytest.raises(PenstockError, match="x has 20 examples and y has 19"):
        gate_information(model, (x, y[:19]), (x, y), epochs=1)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([1, 2, 3], "train is a list, and inputs with their labels are needed"),
        ((torch.zeros(2, 14), None), "train holds a Tensor and a NoneType, and tensors or arrays are needed"),
        (DataLoader(TensorDataset(torch.zeros(2, 14))), r"pairs \(x, y\) are needed"),
        ((torch.full((2, 14), torch.nan), torch.zeros(2).long()), "x has NaN in row 0"),
    ],
)
def test_what_is_no_set_of_examples_is_refused(model, given, sentence):
    with pytest.raises(PenstockError, match=sentence):
        labelled(model, "train", given)
