"""The random teachers of L Section 4.3."""

from itertools import product

import pytest
import torch
from torch import nn

from penstock.errors import PenstockError
from penstock.lab.models.random_sizes import seeded
from penstock.lab.models.teachers import ENTRIES, convolutional_teacher, fully_connected_teacher

DOUBLE = torch.float64


def layers(model: nn.Sequential) -> list[nn.Linear | nn.Conv2d]:
    return [module for module in model if isinstance(module, nn.Linear | nn.Conv2d)]


@pytest.mark.parametrize(
    "teacher",
    [
        fully_connected_teacher(seeded(0), dtype=DOUBLE),
        fully_connected_teacher(seeded(1), hidden=(10, 15, 20, 25), dtype=DOUBLE),
        convolutional_teacher(seeded(2), channels=(16, 16), dtype=DOUBLE),
    ],
    ids=["fully connected", "small", "convolutional"],
)
def test_rows_are_of_five_values_different_from_one_another_and_of_unit_norm(teacher: nn.Sequential):
    for layer in layers(teacher):
        rows = layer.weight.detach().flatten(1)
        assert torch.allclose(rows.norm(dim=1), torch.ones(len(rows), dtype=DOUBLE))
        # the entries are multiples of ¼ before each row is divided by its norm: all are of 0, ±m or ±2m
        for row in rows:
            sizes = row.abs()[row != 0].unique()
            distinct = [float(sizes[0])]
            distinct += [float(size) for size in sizes[1:] if size - distinct[-1] > 1e-12]
            assert len(distinct) <= 2
            if len(distinct) == 2:
                assert distinct[1] == pytest.approx(2 * distinct[0])


def test_all_five_values_are_drawn_alike():
    weight = layers(fully_connected_teacher(seeded(0), dtype=DOUBLE))[2].weight.detach()
    # before the norm: the larger size of a row is ½, unless the row is all of ±¼, which 75 entries are not
    before = 0.5 * weight / weight.abs().amax(dim=1, keepdim=True)
    shares = [float((before - value).abs().lt(1e-9).double().mean()) for value in ENTRIES]
    assert shares == pytest.approx([0.2] * 5, abs=0.02)


def test_rows_are_different_where_there_are_hardly_enough():
    """24 rows of two entries from five values are all there are."""
    first = layers(fully_connected_teacher(seeded(0), inputs=2, hidden=(24,), dtype=DOUBLE))[0]
    every = [torch.tensor(row, dtype=DOUBLE) for row in product(ENTRIES, repeat=2) if any(row)]
    wanted = sorted((row / row.norm()).tolist() for row in every)
    torch.testing.assert_close(torch.tensor(sorted(first.weight.tolist())), torch.tensor(wanted))
    with pytest.raises(PenstockError, match="there are no 25 different rows of 2 entries from 5 values"):
        fully_connected_teacher(seeded(0), inputs=2, hidden=(25,))


def test_a_bias_is_scaled_along_with_its_row():
    """Undone, biases fill [-½, ½]: the norm of a row of k entries is √(mean square · k)."""
    layer = layers(fully_connected_teacher(seeded(0), hidden=(400,), dtype=DOUBLE))[0]
    norms = 0.5 / layer.weight.abs().amax(dim=1)
    assert layer.bias is not None
    before = (layer.bias * norms).detach()
    assert before.abs().max() <= 0.5
    assert before.abs().max() > 0.49
    assert abs(before.mean()) < 4 / (12 * 400) ** 0.5


def test_sizes_are_the_papers():
    fully = fully_connected_teacher(seeded(0))
    assert [layer.weight.shape[0] for layer in layers(fully)] == [50, 75, 100, 125, 100]
    assert sum(p.numel() for p in fully.parameters()) == 1_050 + 3_825 + 7_600 + 12_625 + 12_600
    assert fully(torch.randn(3, 20)).shape == (3, 100)
    convolutional = convolutional_teacher(seeded(0))
    # 9·64 + 64, three times 64·64·9 + 64, and 64 channels on 8×8
    assert sum(p.numel() for p in convolutional.parameters()) == 640 + 3 * 36_928 + 409_700
    assert convolutional(torch.randn(3, 1, 16, 16)).shape == (3, 100)
    assert next(fully.parameters()).dtype == torch.float32


def test_batchnorm_comes_after_the_relu_and_learns_for_convolutions_only():
    fully = fully_connected_teacher(seeded(0), batch_norm=True)
    assert [type(m) for m in list(fully)[:3]] == [nn.Linear, nn.ReLU, nn.BatchNorm1d]
    convolutional = convolutional_teacher(seeded(0), channels=(8, 8), batch_norm=True)
    assert [type(m) for m in list(convolutional)[:3]] == [nn.Conv2d, nn.ReLU, nn.BatchNorm2d]
    assert [m.affine for m in fully if isinstance(m, nn.BatchNorm1d)] == [False] * 4
    assert [m.affine for m in convolutional if isinstance(m, nn.BatchNorm2d)] == [True] * 2
    plain = fully_connected_teacher(seeded(0))
    for one, other in zip(layers(fully), layers(plain), strict=True):
        assert torch.equal(one.weight, other.weight)


def test_too_many_convolutions_without_padding_are_refused():
    with pytest.raises(PenstockError, match="leave nothing of images"):
        convolutional_teacher(seeded(0), image=(1, 8, 8))


def test_nothing_touches_the_global_random_state():
    before = torch.random.get_rng_state()
    one, same = (fully_connected_teacher(seeded(4), hidden=(5,)) for _ in range(2))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), same.parameters(), strict=True))
