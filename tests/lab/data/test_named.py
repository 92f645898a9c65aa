"""Data sets by name: digits always, the others where their files are."""

import hashlib
import time
from pathlib import Path

import pytest
import torch

from penstock import PenstockError
from penstock.lab.data import finding
from penstock.lab.data.dataset import DataSet
from penstock.lab.data.named import NAMES, is_here, load_data
from penstock.lab.data.sources import CIFAR_10, FASHION_MNIST, MNIST
from real_data import folder_with


def balance(data: DataSet) -> list[int]:
    return torch.bincount(data.train.y, minlength=len(data.classes)).tolist()


def test_digits_are_split_by_a_rule_that_no_generator_enters():
    data = load_data("digits")
    assert (data.train.count, data.test.count, data.shape) == (1442, 355, (1, 8, 8))
    assert torch.bincount(data.test.y).tolist() == [35, 36, 35, 36, 36, 36, 36, 35, 34, 36]
    assert data.train.y[:12].tolist() == [*range(10), 0, 1]
    assert (float(data.train.x.min()), float(data.train.x.max())) == (0.0, 1.0)
    # no image is on both sides, and none is lost
    both = torch.cat([data.train.x, data.test.x]).flatten(1).unique(dim=0)
    assert len(both) == 1797


def test_digits_can_be_told_apart():
    """Images and labels belong together: the nearest image to train on has the label of one to test on."""
    data = load_data("digits").flat()
    nearest = torch.cdist(data.test.x, data.train.x).argmin(1)
    assert float((data.train.y[nearest] == data.test.y).float().mean()) > 0.97


def test_the_default_is_digits():
    assert load_data().name == "digits"


def test_a_name_that_is_not_there_is_refused_with_the_nearest():
    for ask in (load_data, is_here):
        with pytest.raises(PenstockError, match=r"no data set called 'fashion_mnist'; .* fashion-mnist"):
            ask("fashion_mnist")


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
def test_inputs_come_in_the_dtype_that_is_asked_for(dtype: torch.dtype):
    data = load_data("digits", dtype=dtype)
    assert (data.train.x.dtype, data.test.x.dtype) == (dtype, dtype)
    assert data.train.y.dtype == torch.int64


def test_numbers_do_not_become_bytes():
    with pytest.raises(PenstockError, match=r"digits are torch.float64 and cannot become torch.uint8"):
        load_data("digits", dtype=torch.uint8)


def test_nothing_of_the_random_state_is_touched():
    before = torch.random.get_rng_state()
    load_data("digits")
    assert torch.equal(before, torch.random.get_rng_state())


def test_where_files_are_not_is_said_without_a_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(finding, "fetch", lambda *_: pytest.fail("a download began"))
    assert is_here("digits", tmp_path)
    assert not is_here("mnist", tmp_path)
    assert not is_here("cifar-10", tmp_path)


def test_each_file_is_known_by_a_checksum_of_its_own():
    checksums = [
        checksum
        for source in (MNIST, FASHION_MNIST, CIFAR_10)
        for parcel in source.parcels
        for checksum in (parcel.sha256, *(part.sha256 for part in parcel.parts))
    ]
    assert len(checksums) == 8 * 2 + 7
    assert len(set(checksums)) == len(checksums)
    assert all(len(bytes.fromhex(checksum)) == hashlib.sha256().digest_size for checksum in checksums)


# The real ones


def test_mnist_is_the_real_one():
    data = load_data("mnist", folder_with("mnist"))
    assert (data.train.count, data.test.count, data.shape) == (60_000, 10_000, (1, 28, 28))
    assert balance(data) == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert data.train.y[:5].tolist() == [5, 0, 4, 1, 9]
    assert (float(data.train.x.min()), float(data.train.x.max())) == (0.0, 1.0)
    # the mean and the deviation that everybody normalizes by
    assert float(data.train.x.mean()) == pytest.approx(0.1307, abs=5e-5)
    assert float(data.train.x.std()) == pytest.approx(0.3081, abs=5e-5)


def test_mnist_is_there_in_a_moment():
    folder = folder_with("mnist")
    load_data("mnist", folder)
    begun = time.process_time()
    load_data("mnist", folder)
    assert time.process_time() - begun < 3  # half a second on an idle machine


def test_binary_mnist_is_four_against_seven():
    folder = folder_with("mnist")
    ten, two = load_data("mnist", folder), load_data("binary-mnist", folder)
    assert (two.train.count, two.test.count) == (5842 + 6265, 982 + 1028)
    assert two.train.y.shape == (two.train.count, 1)
    assert two.train.y.dtype == torch.float32
    assert two.classes == ("4", "7")
    fours = ten.train.x[ten.train.y == 4]
    assert torch.equal(two.train.x[two.train.y[:, 0] == -1], fours)


def test_fashion_mnist_is_the_real_one():
    data = load_data("fashion-mnist", folder_with("fashion-mnist"))
    assert (data.train.count, data.test.count, data.shape) == (60_000, 10_000, (1, 28, 28))
    assert balance(data) == [6000] * 10
    assert data.classes[int(data.train.y[0])] == "ankle boot"
    assert float(data.train.x.mean()) == pytest.approx(0.2860, abs=5e-5)


def test_cifar_10_is_the_real_one():
    bytes_ = load_data("cifar-10", folder_with("cifar-10"), dtype=torch.uint8)
    assert (bytes_.train.count, bytes_.test.count, bytes_.shape) == (50_000, 10_000, (3, 32, 32))
    assert bytes_.train.x.dtype == torch.uint8
    assert balance(bytes_) == [5000] * 10
    assert [bytes_.classes[label] for label in bytes_.train.y[:3]] == ["frog", "truck", "truck"]
    channels = bytes_.train.x.double().mean((0, 2, 3)) / 255
    assert channels.tolist() == pytest.approx([0.4914, 0.4822, 0.4465], abs=5e-5)


def test_every_name_is_tried_here():
    assert NAMES == ("digits", "mnist", "binary-mnist", "fashion-mnist", "cifar-10")
