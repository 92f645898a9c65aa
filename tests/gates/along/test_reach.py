"""Whether a neural path feature changes when a gate flips: against the features of all paths, listed before
and after.
"""

from collections.abc import Callable

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from networks.fully_connected import Skipping, fully_connected
from oracle import paths
from oracle.wiring import Wiring, wire_sequential
from penstock import Switches, capture
from penstock.gates.switching import Switch

seeds = st.integers(0, 2**31 - 1)


def normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def followed(
    model: nn.Module, x: Tensor, seed: int, size: float = 0.5, steps: int = 1
) -> tuple[list[Switch], list]:
    """The flips of some random steps, and the weights at each step's ends."""
    switches = Switches(model, x)
    states = [{name: value.clone() for name, value in model.state_dict().items()}]
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(size * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
        states.append({name: value.clone() for name, value in model.state_dict().items()})
        switches.step()
    return switches.found, states


def at(states: list[dict[str, Tensor]], time: float, model: nn.Module) -> None:
    step = min(int(time), len(states) - 2)
    start, end = states[step], states[step + 1]
    model.load_state_dict(
        {k: torch.lerp(v, end[k], time - step) if v.is_floating_point() else v for k, v in start.items()}
    )


def agrees_with_listed_features(
    model: nn.Module,
    wire: Callable[[], Wiring],
    x: Tensor,
    found: list[Switch],
    states: list[dict[str, Tensor]],
) -> int:
    """Checks every flip that is alone in its bracket for its example; returns how many change no feature."""
    silent = 0
    for switch in found:
        if sum((one.lo, one.example) == (switch.lo, switch.example) for one in found) > 1:
            continue
        features = []
        for time in (switch.lo, switch.hi):
            at(states, time, model)
            wiring = wire()
            features.append(paths.npf(wiring, paths.listed(wiring), x[switch.example : switch.example + 1]))
        assert switch.changes_npf == bool((features[0] != features[1]).any())
        silent += not switch.changes_npf
    return silent


@settings(max_examples=15)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.booleans(), st.booleans(), seeds)
def test_in_fully_connected_nets(widths: list[int], bias: bool, zeros: bool, seed: int):
    model = fully_connected(2, *widths, 1, bias=bias, seed=seed % 1000)
    x = normal(seed, 2, 2)
    if zeros:
        x[:, 0] = 0
        x[0] = 0
    found, states = followed(model, x, seed)
    agrees_with_listed_features(model, lambda: wire_sequential(model, 2), x, found, states)


@settings(max_examples=12)
@given(st.booleans(), seeds)
def test_over_a_skip(bias: bool, seed: int):
    torch.manual_seed(seed)
    model = Skipping(2, 3, 1, bias=bias).double()
    x = normal(seed, 2, 2)
    found, states = followed(model, x, seed)

    def wire() -> Wiring:
        wiring = Wiring(2)
        h = wiring.relu(wiring.linear(wiring.inputs, model.first.weight, model.first.bias))
        h = wiring.relu(wiring.add(wiring.linear(h, model.middle.weight, model.middle.bias), h))
        wiring.outputs = wiring.linear(h, model.last.weight, model.last.bias)
        return wiring

    agrees_with_listed_features(model, wire, x, found, states)


class Convolutional(nn.Sequential):
    """One image at a time for the oracle, batches for everybody else."""

    def __init__(self, pool: nn.Module, bias: bool):
        super().__init__(
            nn.Conv2d(1, 2, 2, bias=bias), nn.BatchNorm2d(2, affine=bias), nn.LeakyReLU(0.0), pool,
            nn.Conv2d(2, 1, 2, bias=bias), nn.ReLU(), nn.Flatten(), nn.Linear(1, 1, bias=bias),
        )  # fmt: skip


@settings(max_examples=8)
@given(st.sampled_from([nn.MaxPool2d(2), nn.AvgPool2d(2), nn.MaxPool2d(2, stride=1)]), st.booleans(), seeds)
def test_with_convolution_batch_norm_and_pooling(pool: nn.Module, bias: bool, seed: int):
    torch.manual_seed(seed)
    size = 4 if pool.stride == 1 else 5
    model = Convolutional(pool, bias).double().eval()
    x = normal(seed, 2, 1, size, size)
    found, states = followed(model, x, seed, 0.2)
    layers = [nn.Flatten(0) if isinstance(layer, nn.Flatten) else layer for layer in model]
    agrees_with_listed_features(
        model, lambda: wire_sequential(nn.Sequential(*layers), 1, size, size), x, found, states
    )


def test_in_figure_1_one_flip_in_eight_of_the_first_layer_changes_nothing_and_none_of_the_second():
    """Those that change nothing have all three units of the second layer shut behind them, on the side where
    they are open. A unit of the second that flips has something that reaches it, and the output behind it."""
    silent = flips = 0
    for seed in range(20):
        model = fully_connected(2, 3, 3, 1, seed=seed)
        x = normal(seed, 24, 2)
        found, states = followed(model, x, seed, 0.1)
        for switch in found:
            if switch.layer == "3":
                assert switch.changes_npf
                continue
            at(states, switch.hi if switch.opened else switch.lo, model)
            second = capture(model, x)["3"].to_dense()[switch.example]
            assert switch.changes_npf == bool(second.any())
            silent, flips = silent + (not switch.changes_npf), flips + 1
    assert flips > 80
    assert 1 / 20 < silent / flips < 1 / 4


class WithSoftmax(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(2, 4), nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        return torch.softmax(self.last(torch.relu(self.first(x))), dim=1)


class WithNegativeConstants(nn.Module):
    """Differences of branches, fixed negative factors: paths all the same."""

    def __init__(self):
        super().__init__()
        self.first, self.other, self.last = nn.Linear(2, 3), nn.Linear(2, 3), nn.Linear(3, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(torch.relu(self.first(x)) - 2 * torch.relu(self.other(-x)))


class WithHandmadeGate(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(2, 4), nn.Linear(4, 1)

    def forward(self, x: Tensor) -> Tensor:
        h = self.first(x)
        return self.last(torch.relu(h) + h * (h > 0))


def test_where_the_net_is_not_affine_with_gates_held_the_answer_is_unknown():
    for model in (WithSoftmax(), WithHandmadeGate()):
        found, _ = followed(model.double(), normal(0, 8, 2), 1)
        assert found
        assert {switch.changes_npf for switch in found} == {None}


def test_negative_constants_leave_paths_what_they_are():
    found, _ = followed(WithNegativeConstants().double(), normal(0, 8, 2), 1)
    assert found
    assert all(
        switch.changes_npf for switch in found
    )  # biases reach every unit, and each is one layer from the output


def test_leaky_and_absolute_units_shut_no_path_of_others():
    for activation in (nn.LeakyReLU(0.1), nn.PReLU()):
        model = nn.Sequential(
            nn.Linear(2, 2), activation, nn.Linear(2, 2), activation, nn.Linear(2, 1)
        ).double()
        found, _ = followed(model, normal(0, 8, 2), 1)
        assert found
        assert all(switch.changes_npf for switch in found)


def test_an_input_of_zeros_without_biases_starts_no_path():
    """Gates at zero are shut and stay so; behind a bias that no path of an input reaches, a flip still
    changes one.
    """
    model = fully_connected(2, 3, 3, 1)
    assert followed(model, torch.zeros(1, 2).double(), 0)[0] == []
    found, _ = followed(fully_connected(2, 3, 3, 1, bias=True), torch.zeros(1, 2).double(), 0)
    assert found
    assert all(switch.changes_npf for switch in found if switch.layer == "3")


def test_a_chain_of_fifty_layers_stays_in_range():
    model = fully_connected(2, *[3] * 50, 1, seed=0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.abs_()
    x = normal(0, 4, 2).abs()
    switches = Switches(model, x)
    with torch.no_grad():
        model.get_parameter("98.weight").mul_(-1)
    found = switches.step()
    assert {switch.layer for switch in found} == {"99"}
    assert all(switch.changes_npf for switch in found)
