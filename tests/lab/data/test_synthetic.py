"""Gaussian inputs have the law that they are said to have, and a seed says them all."""

import itertools
import math

import pytest
import torch
from torch import nn

from penstock import PenstockError
from penstock.lab.data.synthetic import gaussian, gaussian_stream


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("shape", [(20,), (1, 16, 16), ()], ids=str)
def test_numbers_are_normal_with_the_deviation_that_is_asked_for(shape: tuple[int, ...]):
    x = gaussian(4000, shape, seeded(), deviation=10, dtype=torch.float64)
    assert x.shape == (4000, *shape)
    n = x.numel()
    assert abs(float(x.mean())) < 4 * 10 / math.sqrt(n)
    assert float(x.std()) == pytest.approx(10, rel=4 / math.sqrt(2 * n))
    assert float((x / 10).pow(4).mean()) == pytest.approx(3, abs=4 * math.sqrt(96 / n))


def test_a_stream_never_repeats_and_is_told_by_its_seed():
    teacher = nn.Linear(3, 2)
    before = torch.random.get_rng_state()

    def first(count: int, seed: int) -> list[torch.Tensor]:
        stream = gaussian_stream(8, (3,), seeded(seed), teacher)
        return [examples.x for examples in itertools.islice(stream, count)]

    assert all(torch.equal(one, other) for one, other in zip(first(3, 0), first(3, 0), strict=True))
    assert len(torch.cat([*first(50, 0), *first(50, 1)]).unique(dim=0)) == 800
    assert torch.equal(before, torch.random.get_rng_state())


def test_the_teacher_says_what_is_wanted_and_learns_nothing():
    teacher = nn.Linear(3, 2)
    examples = next(gaussian_stream(8, (3,), seeded(), teacher))
    assert torch.equal(examples.y, teacher(examples.x).detach())
    assert not examples.y.requires_grad


@pytest.mark.parametrize(
    ("count", "shape", "deviation", "said"),
    [
        (0, (2,), 1.0, "0 inputs of shape"),
        (2, (0,), 1.0, "hold no number"),
        (2, (2,), 0.0, "no standard deviation"),
    ],
)
def test_what_cannot_be_drawn_is_refused(count: int, shape: tuple[int, ...], deviation: float, said: str):
    with pytest.raises(PenstockError, match=said):
        gaussian(count, shape, seeded(), deviation=deviation)
