"""Labels and pixels at random, permuted, rotated: what is kept, what is lost, and that a seed says it all."""

import itertools
import math
import time
from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy import ndimage
from torch import Generator, Tensor

from penstock import PenstockError
from penstock.lab.data.named import load_data
from penstock.lab.data.permutations import (
    first_permutations,
    permute_labels,
    permute_pixels,
    random_permutations,
)
from penstock.lab.data.randomized import random_labels, random_pixels
from penstock.lab.data.rotations import rotate
from penstock.training.examples import Examples


def seeded(seed: int = 0) -> Generator:
    return torch.Generator().manual_seed(seed)


def noise(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.rand(*shape, generator=seeded(1), dtype=dtype)


@pytest.mark.parametrize(
    "draw",
    [
        lambda generator: random_labels(load_data().train, 10, generator).y,
        lambda generator: random_pixels(load_data().train, generator).x,
        lambda generator: random_permutations(5, 10, generator),
    ],
    ids=["labels", "pixels", "permutations"],
)
def test_a_seed_says_it_all(draw: Callable[[Generator], Tensor]):
    before = torch.random.get_rng_state()
    assert torch.equal(draw(seeded()), draw(seeded()))
    assert not torch.equal(draw(seeded()), draw(seeded(1)))
    assert torch.equal(before, torch.random.get_rng_state())


# D Figure 5: labels and pixels without meaning


def test_random_labels_know_nothing_of_the_true_ones():
    train = load_data().train
    drawn = random_labels(train, 10, seeded())
    assert torch.equal(drawn.x, train.x)
    together = torch.zeros(10, 10).index_put_((train.y, drawn.y), torch.ones(train.count), accumulate=True)
    expected = together.sum(1, keepdim=True) * together.sum(0) / train.count
    chi_square = float(((together - expected) ** 2 / expected).sum())
    assert chi_square < 81 + 4 * math.sqrt(2 * 81)  # 81 degrees of freedom
    assert torch.bincount(drawn.y).min() > 100


@pytest.mark.parametrize("channels", [1, 3])
def test_random_pixels_move_whole_pixels_within_their_image(channels: int):
    x = noise(5000, channels, 4, 3)  # more than are drawn at once
    scattered = random_pixels(Examples(x, torch.arange(5000)), seeded())
    assert scattered.x.shape == x.shape
    for image in (0, 4095, 4096, 4999):
        before = {tuple(pixel) for pixel in x[image].flatten(1).T.tolist()}
        assert {tuple(pixel) for pixel in scattered.x[image].flatten(1).T.tolist()} == before
    assert torch.equal(scattered.y, torch.arange(5000))


def test_random_pixels_have_an_order_of_their_own_in_every_image():
    same = torch.arange(100.0).expand(200, 100)
    scattered = random_pixels(Examples(same, torch.zeros(200)), seeded()).x
    assert len(scattered.unique(dim=0)) == 200
    # and evenly: where the first pixel goes is anywhere
    assert float(scattered.argmin(1).double().mean()) == pytest.approx(49.5, abs=4 * 28.9 / math.sqrt(200))


# R Section 5: permuted inputs and labels


def test_permutations_are_different_and_of_all_things():
    drawn = random_permutations(24, 4, seeded())
    assert sorted(map(tuple, drawn.tolist())) == sorted(itertools.permutations(range(4)))


def test_the_first_permutations_leave_the_first_classes_in_place():
    first = first_permutations(40, 10)
    assert (first[:, :5] == torch.arange(5)).all()
    assert len(first.unique(dim=0)) == 40


@pytest.mark.parametrize(
    "draw", [lambda: random_permutations(7, 3, seeded()), lambda: first_permutations(7, 3)]
)
def test_more_permutations_than_there_are_is_refused(draw: Callable[[], Tensor]):
    with pytest.raises(PenstockError, match="3 things have 6 different orders, and 7 are asked for"):
        draw()


def test_permuting_pixels_is_a_permutation_matrix_on_the_flattened_input():
    x = noise(7, 3, 2, 2)
    (order,) = random_permutations(1, 12, seeded())
    matrix = torch.eye(12, dtype=torch.float64)[order]
    assert torch.equal(permute_pixels(x, order), (x.flatten(1) @ matrix.T).reshape(x.shape))
    assert torch.equal(permute_pixels(permute_pixels(x, order), order.argsort()), x)


def test_permuted_labels_are_the_same_classes_by_other_names():
    y = load_data().train.y
    (order,) = random_permutations(1, 10, seeded())
    changed = permute_labels(y, order)
    assert torch.equal(torch.bincount(changed)[order], torch.bincount(y))
    assert torch.equal(permute_labels(changed, order.argsort()), y)


def test_a_permutation_of_another_size_is_refused():
    with pytest.raises(PenstockError, match="an input has 12 numbers and the permutation 11"):
        permute_pixels(noise(7, 3, 2, 2), torch.arange(11))
    with pytest.raises(PenstockError, match="the labels go from 0 to 9 and the permutation is of 9 classes"):
        permute_labels(torch.arange(10), torch.arange(9))


# R Figure 7: rotated inputs


@pytest.mark.parametrize("quarters", [1, 2, 3, 4])
def test_quarter_turns_move_pixels_and_mix_none(quarters: int):
    x = noise(3, 2, 8, 8)
    assert torch.allclose(rotate(x, 90.0 * quarters), torch.rot90(x, quarters, (2, 3)), atol=1e-12)


@pytest.mark.parametrize("size", [(9, 9), (8, 8), (6, 11)], ids=str)
@pytest.mark.parametrize("degrees", [4.5, 37.0, 135.0, -60.0, 200.0])
def test_any_turn_is_what_scipy_makes_of_it(size: tuple[int, int], degrees: float):
    x = noise(2, 2, *size)
    expected = ndimage.rotate(
        x.numpy(), degrees, axes=(2, 3), reshape=False, order=1, mode="grid-constant", cval=0.0
    )
    assert np.allclose(rotate(x, degrees).numpy(), expected, atol=1e-9)


def test_each_image_has_its_own_angle_where_each_is_given_one():
    x = noise(700, 1, 5, 5)  # more than are turned at once
    angles = torch.linspace(-90, 90, 700)
    turned = rotate(x, angles)
    for image in (0, 100, 511, 512, 699):
        alone = rotate(x[image : image + 1], float(angles[image]))
        assert torch.allclose(turned[image : image + 1], alone, atol=1e-12)


def test_what_cannot_be_turned_is_refused():
    with pytest.raises(PenstockError, match="rotating needs pixels in floating point"):
        rotate(torch.zeros(1, 1, 4, 4, dtype=torch.uint8), 10.0)
    with pytest.raises(PenstockError, match=r"n × channels × height × width, and these are \(4, 64\)"):
        rotate(noise(4, 64), 10.0)
    with pytest.raises(PenstockError, match="3 images and 2 angles"):
        rotate(noise(3, 1, 4, 4), torch.tensor([1.0, 2.0]))


def test_ten_thousand_images_turn_in_about_a_second():
    x = noise(10_000, 1, 28, 28, dtype=torch.float32)
    rotate(x[:100], 30.0)
    begun = time.process_time()
    rotate(x, 30.0)
    assert time.process_time() - begun < 5  # 0.1 s on an idle machine
