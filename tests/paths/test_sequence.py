"""Paths as a sequence, and their bundles (D Section 4)."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from networks.convolutional import circular, small_images
from networks.fully_connected import fully_connected
from penstock import list_paths, npv


@pytest.fixture(scope="module")
def paths():
    return list_paths(fully_connected(2, 3, 2, 1, bias=True))


def test_items_slices_and_arrays_pick_paths(paths):
    every = list(paths)
    assert len(paths) == len(every) == 12 + 6 + 2 + 1
    assert [paths[k] for k in range(-3, 3)] == every[-3:] + every[:3]
    assert list(paths[3:15:4]) == every[3:15:4]
    assert list(paths[::-1]) == every[::-1]
    assert list(paths[4:][2:5]) == every[6:9]
    assert list(paths[np.array([7, 0, 7])]) == [every[7], every[0], every[7]]
    assert every[5] in paths
    assert paths.index(every[5]) == 5


def test_a_place_beyond_the_last_is_an_index_error(paths):
    with pytest.raises(IndexError):
        paths[len(paths)]


def test_arrays_are_filled_up_behind_shorter_paths(paths):
    assert paths.nodes.shape == (21, 4)
    assert paths.nodes[0].tolist() == [0, 0, 0, 0]
    assert paths.nodes[-1].tolist() == [-1, 0, -2, -2]
    assert paths.layer[-1].tolist() == [0, 3, -2, -2]
    assert paths.weights.shape == (21, 3)
    assert paths.weights[-1, 1:].tolist() == [-1, -1]
    assert [layer.name for layer in paths.layers] == ["x", "0", "2", "4"]


def test_arrays_of_a_part_are_the_part_of_the_arrays(paths):
    assert np.array_equal(paths[5:9].nodes, paths.nodes[5:9])
    assert np.array_equal(paths[5:9].weights, paths.weights[5:9])


def test_the_numbers_in_strings_stand_for_weights(paths):
    for path, string in zip(paths, paths.weights, strict=True):
        assert tuple(paths.alphabet[number] for number in string[string >= 0].tolist()) == path.weights


def test_a_short_list_prints_whole_and_a_long_one_its_ends(paths):
    lines = repr(paths).splitlines()
    assert lines[0] == "21 paths"
    assert "  …" in lines
    assert lines[1] == "  x[0] → 0[0] → 2[0] → 4[0]"
    assert lines[-1] == "  1 → 4[0]"
    assert repr(paths[:2]).splitlines() == ["2 paths", *lines[1:3]]
    assert repr(paths[:1]).splitlines()[0] == "1 path"


def test_the_bundles_of_d_figure_9():
    """Three circular convolutions with ŵ = 2 over d_in = 3 positions: 24 paths, 8 strengths, bundles of 3."""
    model = circular(positions=3, kernel=2, convolutions=3)
    paths = list_paths(model, input_shape=(1, 3))
    assert (len(paths), len(paths.bundles)) == (24, 8)
    assert {len(bundle) for bundle in paths.bundles} == {3}
    strengths = npv(model, input_shape=(1, 3))
    assert len(np.unique(strengths.numpy().round(12))) == 8


@settings(max_examples=6)
@given(positions=st.integers(1, 4), convolutions=st.integers(1, 3), data=st.data())
def test_circular_paths_come_in_bundles_of_all_positions(positions, convolutions, data):
    """d_in ŵ^(d-1) paths, ŵ^(d-1) strengths, bundles of d_in; pooling is layer d (D Section 4)."""
    kernel = data.draw(st.integers(1, positions))
    paths = list_paths(circular(positions, kernel, convolutions), input_shape=(1, positions))
    assert len(paths) == positions * kernel**convolutions
    assert len(paths.bundles) == kernel**convolutions
    for bundle in paths.bundles:
        assert sorted(path[0] for path in bundle) == list(range(positions))


def test_the_paths_of_a_bundle_have_one_value_and_one_string():
    model = small_images(nn.AvgPool2d(2, stride=1, padding=1), channels=1, width=1)
    paths = list_paths(model, input_shape=(1, 4, 4))
    values = npv(model, input_shape=(1, 4, 4))
    of_path = torch.from_numpy(paths.bundles.of_path)
    seen = set()
    for number, bundle in enumerate(paths.bundles):
        (string,) = {path.weights for path in bundle}
        seen.add(string)
        assert len(bundle) == int((of_path == number).sum())
        assert len(set(values[of_path == number].tolist())) == 1
    assert len(seen) == len(paths.bundles)


def test_without_weight_sharing_every_path_is_its_own_bundle(paths):
    assert len(paths.bundles) == len(paths)
    assert paths.bundles.of_path.tolist() == list(range(len(paths)))
    assert repr(paths.bundles) == "21 bundles of 21 paths"
    assert [len(bundle) for bundle in paths.bundles[:2]] == [1, 1]
