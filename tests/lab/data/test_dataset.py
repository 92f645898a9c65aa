"""What is done to a data set as a whole is done to both of its parts."""

import pytest
import torch

from penstock import PenstockError
from penstock.lab.data.binary import first_of_each_class, two_classes
from penstock.lab.data.dataset import DataSet
from penstock.lab.data.named import load_data
from penstock.lab.data.pixels import scale_bytes
from penstock.training.examples import Examples


def in_bytes() -> DataSet:
    x = torch.arange(24, dtype=torch.uint8).mul(10).reshape(2, 3, 2, 2)
    return DataSet("tiny", Examples(x, torch.tensor([0, 1])), Examples(x[:1], torch.tensor([1])), ("a", "b"))


def test_flat_inputs_keep_every_number_and_label():
    data = load_data("digits")
    flat = data.flat()
    assert flat.shape == (64,)
    assert torch.equal(flat.test.x.reshape(-1, 1, 8, 8), data.test.x)
    assert torch.equal(flat.test.y, data.test.y)
    assert flat.classes == data.classes


def test_bytes_become_numbers_between_0_and_1_when_they_are_asked_to():
    data = in_bytes()
    assert data.to("cpu").train.x.dtype == torch.uint8
    there = data.to(dtype=torch.float64)
    assert torch.equal(there.train.x, data.train.x.double() / 255)
    assert torch.equal(there.test.x, data.test.x.double() / 255)
    # once only: numbers are not divided again
    assert torch.allclose(there.to(dtype=torch.float32).train.x, scale_bytes(data.train.x))


def test_targets_take_the_dtype_of_the_inputs_and_labels_stay_whole():
    labelled = load_data("digits")
    targeted = two_classes(labelled, 4, 7)
    assert targeted.to(dtype=torch.float64).test.y.dtype == torch.float64
    assert labelled.to(dtype=torch.float64).test.y.dtype == torch.int64
    train, test = (Examples(part.x, part.y.double()) for part in (targeted.train, targeted.test))
    mixed = DataSet("mixed", train, test, ())
    assert mixed.to(dtype=torch.float32).train.y.dtype == torch.float32


def test_bytes_do_not_become_other_whole_numbers():
    with pytest.raises(PenstockError, match=r"tiny are torch.uint8 and cannot become torch.int32"):
        in_bytes().to(dtype=torch.int32)


def test_bytes_are_not_changed_where_they_lie():
    data = in_bytes()
    before = data.train.x.clone()
    data.to(dtype=torch.float32).standardized()
    assert torch.equal(data.train.x, before)


def test_standardized_images_have_mean_0_and_deviation_1_in_every_channel():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(50, 3, 4, 4, generator=generator, dtype=torch.float64) * 7 + 3
    data = DataSet("noise", Examples(x[:40], torch.zeros(40)), Examples(x[40:], torch.zeros(10)), ())
    there = data.standardized()
    assert torch.allclose(there.train.x.mean((0, 2, 3)), torch.zeros(3, dtype=torch.float64))
    assert torch.allclose(there.train.x.std((0, 2, 3), correction=0), torch.ones(3, dtype=torch.float64))
    # what is tested on is moved as what is trained on, not by its own mean
    moved = (x[40:, 1] - x[:40, 1].mean()) / x[:40, 1].std(correction=0)
    assert torch.allclose(there.test.x[:, 1], moved)


def test_a_feature_that_never_varies_is_only_shifted():
    x = torch.tensor([[0.1, 1.0], [0.1, 3.0], [0.1, 2.0]])
    data = DataSet("tiny", Examples(x, torch.zeros(3)), Examples(x + 1, torch.zeros(3)), ()).standardized()
    assert torch.allclose(data.train.x[:, 0], torch.zeros(3), atol=1e-6)
    assert torch.allclose(data.test.x[:, 0], torch.ones(3))
    assert bool(load_data("digits").flat().standardized().test.x.isfinite().all())


def test_bytes_are_not_standardized():
    with pytest.raises(PenstockError, match="standardizing needs pixels in floating point"):
        in_bytes().standardized()


def test_two_classes_are_told_apart_by_a_sign():
    data = load_data("digits")
    two = two_classes(data, 4, 7)
    is_either = (data.train.y == 4) | (data.train.y == 7)
    assert torch.equal(two.train.x, data.train.x[is_either])
    assert two.train.y[:, 0].tolist() == [1.0 if label == 7 else -1.0 for label in data.train.y[is_either]]
    assert two.name == "digits: 4 against 7"


@pytest.mark.parametrize(("negative", "positive"), [(4, 10), (-1, 4)])
def test_a_class_that_is_not_there_is_refused(negative: int, positive: int):
    with pytest.raises(PenstockError, match="digits has no class"):
        two_classes(load_data("digits"), negative, positive)


def test_a_class_is_not_set_against_itself():
    with pytest.raises(PenstockError, match="cannot be told from itself"):
        two_classes(load_data("digits"), 4, 4)


def test_the_first_of_each_class_in_their_order():
    train = load_data("digits").train
    some = first_of_each_class(train, 20)
    assert torch.bincount(some.y).tolist() == [20] * 10
    for label in range(10):
        assert torch.equal(some.x[some.y == label], train.x[train.y == label][:20])
    place = [int((train.x == x).flatten(1).all(1).nonzero()[0]) for x in some.x]
    assert place == sorted(place)


def test_the_first_of_each_class_where_classes_are_signs():
    some = first_of_each_class(two_classes(load_data("digits"), 4, 7).train, 100)
    assert some.y.shape == (200, 1)
    assert float(some.y.sum()) == 0


def test_more_than_a_class_has_is_refused():
    with pytest.raises(PenstockError, match="the smallest class has 34 examples, and 35"):
        first_of_each_class(load_data("digits").test, 35)
