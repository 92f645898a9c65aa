"""A loader must give every example once, in the order of its data set."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)

from penstock import PenstockError
from penstock.model import whole

MODEL = nn.Linear(3, 2)


def loader(examples: Any, **arguments: Any) -> DataLoader:
    """A loader of anything that has a length, or none."""
    return DataLoader(examples, **arguments)


@pytest.fixture
def data():
    return TensorDataset(torch.randn(10, 3), torch.arange(10))


class Stream(IterableDataset):
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return iter(self.rows)


class Backwards(torch.utils.data.Sampler):
    def __init__(self, data):
        self.data = data

    def __iter__(self):
        return iter(range(len(self.data))[::-1])

    def __len__(self):
        return len(self.data)


def test_x_is_taken_from_x_and_from_pairs(data):
    x = data.tensors[0]
    assert torch.equal(whole(MODEL, DataLoader(data, batch_size=4)), x)
    assert torch.equal(whole(MODEL, DataLoader(TensorDataset(x), batch_size=4)), x)
    assert torch.equal(whole(MODEL, loader(list(x), batch_size=4)), x)


def test_a_loader_without_batches_of_its_own_gives_the_data_sets(data):
    batches = [data.tensors[0][:7], data.tensors[0][7:]]
    assert torch.equal(whole(MODEL, loader(batches, batch_size=None)), data.tensors[0])


def test_an_iterable_data_set_is_taken_as_it_comes(data):
    x = data.tensors[0]
    assert torch.equal(whole(MODEL, loader(Stream(list(x)), batch_size=4)), x)


def test_an_order_written_down_is_no_shuffling(data):
    order = [3, 1, 4]
    assert torch.equal(whole(MODEL, DataLoader(data, sampler=order, batch_size=2)), data.tensors[0][order])
    assert torch.equal(whole(MODEL, DataLoader(Subset(data, order), batch_size=2)), data.tensors[0][order])


@pytest.mark.parametrize(
    "arguments",
    [
        lambda data: {"shuffle": True},
        lambda data: {"sampler": RandomSampler(data)},
        lambda data: {"sampler": SubsetRandomSampler(range(5))},
        lambda data: {"sampler": WeightedRandomSampler([1.0] * 10, 10)},
        lambda data: {"sampler": Backwards(data)},
        lambda data: {"shuffle": True, "batch_size": None},
        lambda data: {"batch_sampler": BatchSampler(RandomSampler(data), 2, False)},
    ],
)
def test_a_shuffled_loader_is_refused(data, arguments):
    with pytest.raises(
        PenstockError, match=r"the loader is shuffled \(its sampler is a .*Sampler|Backwards\).*shuffle=False"
    ):
        whole(MODEL, DataLoader(data, **arguments(data)))


def test_batches_of_another_make_are_refused(data):
    class Buckets(BatchSampler):
        pass

    given = DataLoader(data, batch_sampler=Buckets(SequentialSampler(data), 2, False))
    with pytest.raises(PenstockError, match="takes its batches from a Buckets, whose order"):
        whole(MODEL, given)


def test_examples_that_would_be_dropped_are_missed(data):
    with pytest.raises(PenstockError, match=r"leaves out the last 2 of 10 examples \(drop_last=True\)"):
        whole(MODEL, DataLoader(data, batch_size=4, drop_last=True))
    assert len(whole(MODEL, DataLoader(data, batch_size=5, drop_last=True))) == 10


def test_batches_of_other_parts_are_refused(data):
    x, y = data.tensors
    with pytest.raises(PenstockError, match="batches of 3 parts, and x or"):
        whole(MODEL, DataLoader(TensorDataset(x, y, y)))
    with pytest.raises(PenstockError, match=r"gives dictionaries \(image, label\), and x or"):
        whole(MODEL, loader([{"image": x[0], "label": 1}]))
    with pytest.raises(PenstockError, match="gives batches of type str"):
        whole(MODEL, loader(["a", "b"], batch_size=None))
    with pytest.raises(PenstockError, match="no batch at all"):
        whole(MODEL, DataLoader(TensorDataset(x[:0])))


def test_the_loaders_own_generator_is_left_as_it_was(data):
    generator = torch.Generator().manual_seed(3)
    given = DataLoader(data, batch_size=4, generator=generator)
    before = generator.get_state()
    whole(MODEL, given)
    assert torch.equal(generator.get_state(), before)
