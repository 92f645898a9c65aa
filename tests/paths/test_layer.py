"""How nodes are written."""

from penstock.paths.layer import ONE, Layer


def test_a_unit_is_written_by_its_place_in_the_layers_shape():
    assert Layer("conv1", (2, 3, 4)).node(23) == "conv1[1, 2, 3]"
    assert Layer("fc", (10,)).node(7) == "fc[7]"


def test_the_one_that_biases_start_from_is_written_so():
    assert Layer("x", (2,)).node(ONE) == "1"
