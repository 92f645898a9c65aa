"""IDX and CIFAR-10's binary format are read for what they say, and what they cannot say is refused."""

import pytest
import torch

from lab.data.tiny import IMAGES, LABELS, record
from penstock import PenstockError
from penstock.lab.data.cifar import read_records
from penstock.lab.data.idx import read_idx


def test_an_idx_file_is_an_array_in_its_own_shape():
    assert torch.equal(read_idx(IMAGES, "images"), torch.arange(12, dtype=torch.uint8).reshape(2, 2, 3))
    assert read_idx(LABELS, "labels").tolist() == [7, 4]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "begins with nothing"),
        (b"\x1f\x8b" + IMAGES, "begins with 1f 8b 00 00"),
        (bytes([0, 0, 13]) + IMAGES[3:], "begins with 00 00 0d 03"),  # floating point
        (IMAGES[:10], "ends before its dimensions"),
        (bytes([0, 0, 8, 0]), "ends before its dimensions"),
        (IMAGES[:-1], "2 × 2 × 3 bytes, and 11 follow"),
        (IMAGES + b"!", "2 × 2 × 3 bytes, and 13 follow"),
    ],
)
def test_what_is_no_idx_file_is_refused_by_name(content: bytes, said: str):
    with pytest.raises(PenstockError, match=f"train-images .*{said}"):
        read_idx(content, "train-images")


def test_a_record_is_a_label_and_three_planes():
    examples = read_records([record(0, 10) + record(9, 20), record(3, 30)], ["one", "two"])
    assert examples.y.tolist() == [0, 9, 3]
    assert examples.x.shape == (3, 3, 32, 32)
    assert examples.x[1, :, 5, 7].tolist() == [20, 21, 22]


def test_a_row_of_an_image_lies_before_the_next():
    plane = bytes(range(256)) * 4
    (image,) = read_records([b"\0" + plane * 3], ["one"]).x
    assert torch.equal(image[2].flatten(), torch.tensor(list(plane), dtype=torch.uint8))


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "holds 0 bytes"), (record(1, 1)[:-1], "3,072 bytes"), (record(10, 1), "the label 10")],
)
def test_what_are_no_records_is_refused_by_name(content: bytes, said: str):
    with pytest.raises(PenstockError, match=f"data_batch_1.bin .*{said}"):
        read_records([content], ["data_batch_1.bin"])
