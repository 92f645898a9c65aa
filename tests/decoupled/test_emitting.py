"""The gates that a feature network makes, against formulas written out by hand (N Table 4, D Table 2)."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from decoupled.cases import made, redraw, small_convolutions, two_layers
from networks import awkward
from penstock import GatedNetwork, GateRecord, Hard, Monitor, Soft, Switches, capture, decouple

X = torch.randn(5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
SOFT = Soft(beta=3.0, epsilon=0.2)


def soft(q: Tensor) -> Tensor:
    return 1.2 / (1 + torch.exp(-3.0 * q))


def pair_of(model: nn.Module, gate: Soft | Hard = Hard(), own: Soft | Hard = Hard()) -> GatedNetwork:  # noqa: B008
    pair = decouple(model.double(), gate, feature_gate=own)
    redraw(pair.feature, 1)
    redraw(pair.value, 2)
    return pair


def weights(part: nn.Module) -> tuple[Tensor, ...]:
    return tuple(parameter.detach() for parameter in part.parameters())


def test_n_table_4_the_feature_network_is_itself_a_relu_network():
    pair = pair_of(two_layers(), SOFT)
    a1, b1, a2, b2, _, _ = weights(pair.feature)
    v1, c1, v2, c2, v3, c3 = weights(pair.value)
    first = X @ a1.T + b1
    second = first.relu() @ a2.T + b2
    h = (X @ v1.T + c1) * soft(first)
    h = (h @ v2.T + c2) * soft(second)
    torch.testing.assert_close(pair(X), h @ v3.T + c3, rtol=1e-12, atol=1e-14)


def test_d_table_2_the_feature_network_has_the_same_soft_gates():
    pair = pair_of(two_layers(), SOFT, SOFT)
    a1, b1, a2, b2, _, _ = weights(pair.feature)
    v1, c1, v2, c2, v3, c3 = weights(pair.value)
    first = X @ a1.T + b1
    second = (first * soft(first)) @ a2.T + b2
    h = (X @ v1.T + c1) * soft(first)
    h = (h @ v2.T + c2) * soft(second)
    torch.testing.assert_close(pair(X), h @ v3.T + c3, rtol=1e-12, atol=1e-14)


def through_last(
    function: Callable[[Tensor, Tensor], Tensor], call: Callable[[Tensor], Tensor], gate: Soft | Hard
):
    pair = pair_of(awkward.Called(call), gate)
    q, signal = pair.feature.first(X), pair.value.first(X)  # pyright: ignore[reportCallIssue]
    wanted = pair.value.last(function(q, signal))  # pyright: ignore[reportCallIssue]
    torch.testing.assert_close(pair(X), wanted, rtol=1e-12, atol=1e-13)


def leaking(slope: Tensor | float) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda q, signal: signal * (slope + (1 - slope) * soft(q))


def clipped(low: float, high: float) -> Callable[[Tensor, Tensor], Tensor]:
    def output(q: Tensor, signal: Tensor) -> Tensor:
        above, over = soft(q - low), soft(q - high)
        return signal * (above - over) + (1 - above) * low + over * high

    return output


def chosen(q: Tensor, signal: Tensor) -> Tensor:
    places = F.max_pool1d(q, 2, return_indices=True)[1]
    return signal.gather(1, places).repeat_interleave(2, 1)


SOFTLY: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Tensor, Tensor], Tensor]]] = {
    "ReLU": (F.relu, lambda q, signal: signal * soft(q)),
    "ReLU in place": (lambda q: F.relu_(q), lambda q, signal: signal * soft(q)),
    "LeakyReLU": (lambda q: F.leaky_relu(q, 0.3), leaking(0.3)),
    "LeakyReLU in place": (lambda q: F.leaky_relu_(q, 0.3), leaking(0.3)),
    "ReLU6": (F.relu6, clipped(0, 6)),
    "hardtanh": (F.hardtanh, clipped(-1, 1)),
    "hardtanh in place": (lambda q: F.hardtanh_(q), clipped(-1, 1)),
    "absolute value": (torch.abs, lambda q, signal: signal * q.sign()),
    "SiLU": (F.silu, lambda q, signal: signal * torch.sigmoid(q)),
    "GELU": (F.gelu, lambda q, signal: signal * torch.special.ndtr(q)),
    "max-pooling": (lambda q: F.max_pool1d(q, 2).repeat_interleave(2, 1), chosen),
}


@pytest.mark.parametrize("name", SOFTLY)
def test_what_each_function_becomes_under_a_soft_gate(name: str):
    call, wanted = SOFTLY[name]
    through_last(wanted, call, SOFT)


def step(q: Tensor) -> Tensor:
    return (q > 0).double()


HARDLY: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Tensor, Tensor], Tensor]]] = {
    "ReLU": (F.relu, lambda q, signal: signal * step(q)),
    "ReLU in place": (lambda q: F.relu_(q), lambda q, signal: signal * step(q)),
    "LeakyReLU": (lambda q: F.leaky_relu(q, 0.3), lambda q, signal: signal * (0.3 + 0.7 * step(q))),
    "hardtanh": (
        F.hardtanh,
        lambda q, signal: torch.where(q.abs() < 1, signal, q.sign()),
    ),
    **{name: SOFTLY[name] for name in ("absolute value", "SiLU", "GELU", "max-pooling")},
}


@pytest.mark.parametrize("name", HARDLY)
def test_what_each_function_becomes_under_a_hard_gate(name: str):
    call, wanted = HARDLY[name]
    through_last(wanted, call, Hard())


@pytest.mark.parametrize("gate", [SOFT, Hard()], ids=str)
def test_a_prelus_slopes_are_those_of_the_feature_network(gate: Soft | Hard):
    pair = pair_of(nn.Sequential(nn.Linear(4, 6), nn.PReLU(6), nn.Linear(6, 2)), gate)
    slope = pair.feature[1].weight  # pyright: ignore[reportIndexIssue]
    q, signal = pair.feature[0](X), pair.value[0](X)  # pyright: ignore[reportIndexIssue]
    opened = soft(q) if gate == SOFT else step(q)
    wanted = pair.value[2](signal * (slope + (1 - slope) * opened))  # pyright: ignore[reportIndexIssue]
    torch.testing.assert_close(pair(X), wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    "name",
    ["small convolutions", "LeakyReLU", "hardtanh", "clamp at both ends", "PReLU", "every form of ReLU"],
)
def test_a_steeper_soft_gate_tends_to_the_hard_one(name: str):
    model, x = made(name)
    model, x = model.double(), x.double()
    with torch.no_grad():
        hard = decouple(model)(x)
        gates = (Soft(beta, 0.0) for beta in (1e1, 1e3, 1e8))
        gaps = [(decouple(model, gate, feature_gate=gate)(x) - hard).abs().max().item() for gate in gates]
    assert gaps[0] > gaps[1] > gaps[2] or gaps[1] == gaps[2] == 0
    assert gaps[0] > 1e-3
    assert gaps[2] < 1e-5 * hard.abs().max().item()


# a pair is watched like any module


@pytest.mark.parametrize("gate", [Hard(), SOFT], ids=str)
@pytest.mark.parametrize(
    "name",
    ["small convolutions", "one ReLU object for all", "pooling with indices", "images, adaptive pooling"],
)
def test_a_record_of_a_pair_holds_each_call_of_both_networks_once(name: str, gate: Soft | Hard):
    model, x = made(name)
    own = capture(model, x)
    pair = decouple(model, gate)
    record = capture(pair, x)
    assert list(record) == [f"{part}.{each}" for part in ("feature", "value") for each in own]
    for each, layer in own.items():
        assert torch.equal(record[f"feature.{each}"].to_dense(), layer.to_dense())
    record.verify(pair, x)


@pytest.mark.parametrize("name", ["small convolutions", "LeakyReLU", "PReLU", "ReLU6", "SiLU"])
@pytest.mark.parametrize("gate", [Hard(), SOFT], ids=str)
def test_a_record_of_a_pair_is_saved_and_loaded(name: str, gate: Soft | Hard, tmp_path):
    model, x = made(name) if name != "SiLU" else (awkward.Called(F.silu), X.float())
    pair = decouple(model, gate)
    record = capture(pair, x)
    record.save(tmp_path / "gates.safetensors")
    loaded = GateRecord.load(tmp_path / "gates.safetensors")
    assert loaded == record
    loaded.verify(pair, x)


def test_gates_from_outside_are_recorded_saved_and_loaded(tmp_path):
    pair = decouple(two_layers(), gates=[torch.rand(5, 6) < 0.5, torch.rand(5, 6)])
    record = capture(pair, X.float())
    assert str(record["value.3"].kind) == "from outside, given"
    record.save(tmp_path / "gates.safetensors")
    assert GateRecord.load(tmp_path / "gates.safetensors") == record
    record.verify(pair, X.float())


def test_a_monitor_and_switches_follow_a_pair_in_training():
    pair = decouple(small_convolutions())
    x = torch.randn(3, 1, 8, 8)
    monitor, switches = Monitor(pair, x, every=1), Switches(pair, x)
    for _ in range(2):
        with torch.no_grad():
            for parameter in pair.feature.parameters():
                parameter.add_(0.01 * torch.randn_like(parameter))
        monitor.step()
        switches.step()
    flipped = {switch.layer for switch in switches.found}
    assert flipped
    # the value network's gates are these, and no others
    assert all(layer.startswith("feature.") for layer in flipped)
    assert set(monitor.history["flipped"]) == set(capture(pair, x))
