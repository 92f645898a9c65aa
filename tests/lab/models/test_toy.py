"""The toy of N Figure 1."""

import torch

from penstock.lab.models.toy import toy_inputs, toy_network


def test_the_first_two_inputs_share_one_gate_a_layer_and_the_third_no_path_with_the_first():
    model, x = toy_network(), toy_inputs()
    first = model[0](x) > 0
    second = model[:3](x) > 0
    assert first.int().tolist() == [[1, 1, 0], [1, 0, 1], [0, 1, 1]]
    assert second.int().tolist() == [[0, 1, 1], [1, 0, 1], [1, 0, 0]]


def test_no_gate_hangs_on_rounding():
    model, x = toy_network(torch.float32), toy_inputs(torch.float32)
    assert model[0](x).abs().min() >= 1
    assert model[:3](x).abs().min() >= 1
    assert x.abs().min() >= 1
