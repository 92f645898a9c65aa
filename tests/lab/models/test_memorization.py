"""The memorisation network of N Appendix D (Table 5)."""

import pytest
import torch

from penstock import GatedNetwork
from penstock.errors import PenstockError
from penstock.lab.models.initialization import Bernoulli, Gaussian
from penstock.lab.models.memorization import memorization_inputs, memorization_network, random_gates
from penstock.lab.models.random_sizes import seeded


@pytest.mark.parametrize("depth", [2, 3, 5])
def test_it_computes_what_table_5_says(depth: int):
    n, width = 4, 6
    network = memorization_network(seeded(0), examples=n, width=width, depth=depth, law=Gaussian(1.0), mu=0.7)
    gates = random_gates(n, [width] * (depth - 1), 0.7, seeded(0))
    weights = [parameter.tolist() for parameter in network.value.parameters()]
    for s, output in enumerate(network(memorization_inputs(n))[:, 0].tolist()):
        z = [1.0]
        for weight, gate in zip(weights[:-1], gates, strict=True):
            q = [sum(row[j] * z[j] for j in range(len(z))) for row in weight]
            z = [q[i] * bool(gate[s, i]) for i in range(width)]
        assert output == pytest.approx(sum(weights[-1][0][j] * z[j] for j in range(width)), abs=1e-12)


def test_it_is_a_pair_whose_gates_are_not_trained():
    network = memorization_network(seeded(0), examples=3, width=25, depth=4, law=Bernoulli(0.2))
    assert isinstance(network, GatedNetwork)
    assert network.gates_are_fixed
    trained = {name: p.numel() for name, p in network.named_parameters() if p.requires_grad}
    assert list(trained.values()) == [25, 625, 625, 25]
    assert all(name.startswith("value.") for name in trained)
    assert all(p.detach().abs().unique().tolist() == [0.2] for p in network.parameters())


def test_gates_are_open_with_probability_mu_each_for_itself():
    one, other = random_gates(200, (50, 50), 0.3, seeded(0))
    for layer in (one, other):
        assert layer.dtype == torch.bool
        assert layer.double().mean().item() == pytest.approx(0.3, abs=0.02)
    # neither of two layers, nor of two examples, nor of two units, knows of the other
    both = [(one & other), (one[:100] & one[100:]), (one[:, :25] & one[:, 25:])]
    assert [float(each.double().mean()) for each in both] == pytest.approx([0.09] * 3, abs=0.02)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: random_gates(3, (4,), 1.2, seeded(0)), "mu=1.2 is no probability"),
        (lambda: random_gates(0, (4,), 0.5, seeded(0)), "there are no gates for 0 examples"),
        (
            lambda: memorization_network(seeded(0), examples=3, width=4, depth=1, law="he"),
            "depth=1 leaves no hidden layer",
        ),
    ],
)
def test_what_is_no_network_is_refused(call, says: str):
    with pytest.raises(PenstockError, match=says):
        call()
