"""Operations that move, copy or drop entries: a path goes where its entry goes."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from networks.inline import Inline
from oracle.edges import assert_edges_are_the_module
from penstock import count_paths, list_paths


def _overwritten(x, w):
    y = x @ w
    y[:, 0] = 0
    y[:, 1] = x[:, 2]
    return y


@pytest.mark.parametrize(
    "function",
    {
        "view": lambda x, w: x.view(-1, 2, 2).transpose(1, 2).reshape(-1, 4),
        "permute": lambda x, w: x.reshape(-1, 2, 2, 1).permute(0, 3, 2, 1).flatten(1),
        "movedim": lambda x, w: x.unflatten(1, (2, 2)).movedim(1, 2).flatten(1),
        "squeeze": lambda x, w: x.unsqueeze(2).squeeze(),
        "expand": lambda x, w: x[:, :, None].expand(-1, 4, 3).flatten(1),
        "repeat": lambda x, w: x.repeat(1, 2),
        "tile": lambda x, w: x.tile(1, 2),
        "repeat_interleave": lambda x, w: x.repeat_interleave(2, 1),
        "slice": lambda x, w: x[:, 1:4:2],
        "select": lambda x, w: x[:, 3, None],
        "index": lambda x, w: x[:, [2, 0, 2]],
        "index_select": lambda x, w: x.index_select(1, torch.tensor([3, 0])),
        "chunk": lambda x, w: x.chunk(2, 1)[1],
        "split": lambda x, w: x.split([1, 3], 1)[1],
        "unbind": lambda x, w: torch.stack(x.unbind(1)[:2], 1),
        "cat": lambda x, w: torch.cat([x, x.relu()], 1),
        "cat with a parameter": lambda x, w: torch.cat([x, w[:1].expand(x.shape[0], 4)], 1),
        "cat with zeros": lambda x, w: torch.cat([x, torch.zeros(x.shape[0], 2).to(x)], 1),
        "stack": lambda x, w: torch.stack([x, x.relu()], 2).flatten(1),
        "roll": lambda x, w: x.roll(1, 1),
        "flip": lambda x, w: x.flip(1),
        "rot90": lambda x, w: x.reshape(-1, 2, 2).rot90(1, (1, 2)).flatten(1),
        "pad": lambda x, w: functional.pad(x, (1, 2)),
        "pad by a number": lambda x, w: functional.pad(x, (1, 0), value=3.0),
        "crop": lambda x, w: functional.pad(x, (-1, -1)),
        "circular": lambda x, w: functional.pad(x[:, None], (2, 1), mode="circular")[:, 0],
        "reflect": lambda x, w: functional.pad(x[:, None], (2, 1), mode="reflect")[:, 0],
        "replicate": lambda x, w: functional.pad(x[:, None], (2, 1), mode="replicate")[:, 0],
        "pixel_shuffle": lambda x, w: functional.pixel_shuffle(x.reshape(-1, 4, 1, 1), 2).flatten(1),
        "channel_shuffle": lambda x, w: functional.channel_shuffle(x.reshape(-1, 4, 1, 1), 2).flatten(1),
        "nearest": lambda x, w: functional.interpolate(x[:, None], scale_factor=2)[:, 0],
        "nearest-exact": lambda x, w: functional.interpolate(x[:, None], size=7, mode="nearest-exact")[:, 0],
        "windows": lambda x, w: x.unfold(1, 2, 1).flatten(1),
        "im2col": lambda x, w: functional.unfold(x.reshape(-1, 1, 2, 2), 2, padding=1).flatten(1),
        "tril": lambda x, w: x.reshape(-1, 2, 2).tril().flatten(1),
        "diagonal": lambda x, w: x.reshape(-1, 2, 2).diagonal(dim1=1, dim2=2),
        "masked_fill": lambda x, w: x.masked_fill(torch.tensor([True, False, False, True]), 2.0),
        "where, by a constant": lambda x, w: torch.where(torch.tensor([True, False, False, True]), x, w[0]),
        "overwritten in place": _overwritten,
        "the batch behind": lambda x, w: x.T.reshape(2, 2, -1).permute(2, 1, 0).flatten(1),
    }.items(),
    ids=lambda item: item[0],
)
def test_edges_are_the_rearrangement(function):
    assert_edges_are_the_module(Inline(function[1]), torch.randn(3, 4, dtype=torch.float64))


@pytest.mark.parametrize("output", [0, 4])
def test_padding_by_zeros_starts_no_path(output):
    assert count_paths(Inline(lambda x, w: functional.pad(x, (1, 0))), input_shape=(4,), output=output) == (
        output > 0
    )


def test_padding_by_a_number_starts_a_path_with_that_value():
    (path,) = list_paths(Inline(lambda x, w: functional.pad(x, (1, 0), value=3.0)), input_shape=(4,))
    assert [letter.constant for letter in path.weights] == [3.0]


def test_a_parameter_that_is_joined_on_starts_paths_of_its_own():
    model = Inline(lambda x, w: torch.cat([x, w[:1].expand(x.shape[0], 4)], 1))
    (path,) = list_paths(model, input_shape=(4,), output=6)
    assert path[0] == -1
    assert len(path.weights) == 1


def test_rearranging_makes_no_nodes():
    model = nn.Sequential(nn.Unflatten(1, (2, 2)), nn.Flatten(), nn.Linear(4, 1))
    assert {len(path) for path in list_paths(model, input_shape=(4,))} == {2}
