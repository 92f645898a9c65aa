"""Every network of the laboratory, decoupled: the model's own outputs, and its gates with other weights."""

import ast
import copy
import re
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import penstock
import penstock.lab.models
from lab.models.nets import ALL, NETS, made
from oracle import decoupled as oracle
from penstock import GatedNetwork, Hard, PenstockError, Soft, capture, decouple, regime
from penstock.lab.models.fully_connected import deep_linear_network
from penstock.lab.models.initialization import Gaussian, He
from penstock.lab.models.memorization import memorization_network
from penstock.lab.models.random_sizes import seeded
from penstock.lab.models.redrawing import redraw

APART = {"deep_linear_network", "memorization_network", "varied_network"}
"""Without gates; decoupled from the start; a family of those that are here one by one."""

ENDING = re.compile(r"_network$|_teacher$|Network$|Abreast$")


def test_no_network_of_the_laboratory_is_left_out():
    there = set()
    for path in Path(penstock.lab.models.__path__[0]).glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and ENDING.search(node.name):
                there.add(node.name)
    there = {name for name in there if not name.startswith("_")}
    # made by the function of their file
    there -= {"ResidualNetwork", "Network"}
    assert there == {name.split(" ")[0] for name in NETS} | {"random_relu_network"} | APART


@pytest.mark.parametrize("name", ALL)
def test_a_pair_of_copies_gives_the_networks_own_outputs(name: str):
    model, x = made(name)
    torch.testing.assert_close(decouple(model)(x), model(x), rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", [name for name in ALL if "BatchNorm" in name or "residual" in name])
def test_so_it_does_in_training_mode(name: str):
    model, x = made(name)
    pair = decouple(model.train())
    twin = copy.deepcopy(model)
    torch.testing.assert_close(pair(x), twin(x), rtol=1e-12, atol=0)
    for after, its in zip(pair.value.buffers(), twin.buffers(), strict=True):
        torch.testing.assert_close(after, its)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("seed", range(2))
def test_redrawn_values_pass_the_networks_gates(name: str, seed: int):
    model, x = made(name, seed)
    gates = oracle.gates_of(model, x)
    pair = decouple(model)
    redraw(pair.value, seeded(seed, 2))
    wanted = oracle.gated(pair.value, x, gates)
    assert_same(pair(x), wanted)
    assert not torch.allclose(wanted, model(x))
    assert not torch.allclose(wanted, pair.value(x))


@pytest.mark.parametrize("name", ALL)
def test_gates_that_a_record_holds_do_the_same(name: str):
    model, x = made(name, 3)
    pair = decouple(model, gates=capture(model, x), train="value")
    redraw(pair.value, seeded(3, 1))
    assert_same(pair(x), oracle.gated(pair.value, x, oracle.gates_of(model, x)))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("own", [Hard(), Soft(4.0, 0.1)], ids=["N_Table_4", "D_Table_2"])
def test_soft_gates_are_read_from_the_feature_networks_pre_activations(name: str, own: Hard | Soft):
    model, x = made(name, 4)
    pair = decouple(model, Soft(4.0, 0.1), feature_gate=own)
    redraw(pair.value, seeded(4, 1))
    softly = oracle.soft(4.0, 0.1)
    gates = oracle.gates_of(model, x, softly, own=oracle.hard if own == Hard() else softly)
    assert_same(pair(x), oracle.gated(pair.value, x, gates))


@pytest.mark.parametrize("name", [name for name in NETS if name != "toy_network"])
def test_a_regime_freezes_the_gates_and_draws_the_values_by_a_law(name: str):
    """FLNPF with He's law on every network: gates of the one that is there, fresh weights, biases at 0."""
    model, x = made(name, 5)
    pair = regime(model, "flnpf", trained=model, init=He(), generator=seeded(5, 1))
    assert_same(pair(x), oracle.gated(pair.value, x, oracle.gates_of(model, x)))
    for module in pair.value.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            assert module.bias is None or not module.bias.any()
            sigma = (2 / module.weight[0].numel()) ** 0.5
            assert module.weight.abs().max() < 6 * sigma


def test_a_network_without_gates_and_one_that_is_a_pair_already_are_refused():
    deep_linear = deep_linear_network((2, 3, 1), Gaussian(1.0), seeded(0))
    with pytest.raises(PenstockError, match="has no gates"):
        decouple(deep_linear)(torch.ones(2, 2, dtype=torch.float64))
    memory = memorization_network(seeded(0), examples=3, width=4, depth=3, law="he")
    assert isinstance(memory, GatedNetwork)
    with pytest.raises(PenstockError, match="is decoupled already"):
        decouple(memory)


def assert_same(ours: Tensor, wanted: Tensor) -> None:
    torch.testing.assert_close(ours, wanted, rtol=1e-10, atol=1e-12 * float(wanted.abs().max()))
