"""The instants at which gates flip: what `Switches` finds is what looking everywhere finds (N Definition
3.3).
"""

import copy
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from networks.fully_connected import fully_connected
from networks.moving import fill, moved, normal, step_to
from oracle import switching as oracle
from penstock import Switches, capture
from penstock.gates.switching import Switch

PARTS = 1024
hidden = st.lists(st.integers(1, 4), min_size=1, max_size=3)
seeds = st.integers(0, 2**31 - 1)


def as_arrays(model: nn.Module) -> oracle.Net:
    linear = [layer for layer in model if isinstance(layer, nn.Linear)]  # pyright: ignore[reportGeneralTypeIssues]
    biases = [
        np.zeros(layer.out_features) if layer.bias is None else layer.bias.detach().numpy()
        for layer in linear
    ]
    return oracle.Net([layer.weight.detach().numpy().copy() for layer in linear], [b.copy() for b in biases])


def told(switch: Switch, parts: int = PARTS) -> oracle.Flip:
    place = round((switch.lo - switch.step) * parts)
    return oracle.Flip(place, int(switch.layer) // 2, switch.unit[0], switch.example, switch.opened)


class TestWhatIsFound:
    @given(hidden, st.booleans(), st.sampled_from([0.1, 1.0, 3.0]), seeds)
    def test_it_is_what_a_look_at_every_place_finds(
        self, widths: list[int], bias: bool, size: float, seed: int
    ):
        model = fully_connected(2, *widths, 1, bias=bias, seed=seed % 1000)
        x, end = normal(seed, 5, 2), moved(model, seed, size)
        before, after = as_arrays(model), as_arrays(end)
        switches = Switches(model, x)
        step_to(model, end)
        found = switches.step()
        assert {told(one) for one in found} == set(oracle.flips(before, after, x.numpy(), PARTS))
        assert len(found) == len(set(found))

    @settings(max_examples=8)
    @given(hidden, st.sampled_from([0.3, 2.0]), seeds)
    def test_every_flip_at_a_hundred_thousandth_of_a_step_lies_in_a_bracket(
        self, widths: list[int], size: float, seed: int
    ):
        model = fully_connected(2, *widths, 1, seed=seed % 1000)
        x, end = normal(seed, 3, 2), moved(model, seed, size)
        finely = oracle.flips(as_arrays(model), as_arrays(end), x.numpy())
        switches = Switches(model, x)
        step_to(model, end)
        brackets = {(*gate(told(one)), one.opened): one for one in switches.step()}
        for flip, alone in zip(finely, lasting(finely), strict=True):
            if alone:
                assert (*gate(flip), flip.opened) in brackets
        for one in switches.found:
            inside = [
                f
                for f in finely
                if gate(f) == gate(told(one)) and one.lo < (f.place + 1) / 1e5 and f.place / 1e5 < one.hi
            ]
            assert sum(1 if f.opened else -1 for f in inside) == (1 if one.opened else -1)

    @pytest.mark.parametrize("inner", [1, 2, 4])
    def test_a_gate_that_flips_and_flips_back_between_equal_ends_is_found(self, inner: int):
        model, x, other = there_and_back()
        switches = Switches(model, x, inner=inner)
        step_to(model, other)
        down, up = switches.step()
        assert (down.layer, down.opened, up.layer, up.opened) == ("3", False, "3", True)
        # 1 - 4.8 t (1 - t) is zero at (1 ± √(1/6)) / 2; the first layer's bias hardly moves that
        assert down.hi == pytest.approx((1 - math.sqrt(1 / 6)) / 2, abs=2e-3)
        assert up.hi == pytest.approx((1 + math.sqrt(1 / 6)) / 2, abs=2e-3)

    def test_without_a_look_inside_only_the_ends_are_compared(self):
        model, x, other = there_and_back()
        switches = Switches(model, x, inner=0)
        step_to(model, other)
        assert switches.step() == []

    def test_gates_of_the_records_at_both_ends_differ_in_the_gates_that_flip_an_odd_number_of_times(self):
        model = fully_connected(3, 8, 8, 2, bias=True)
        x, end = normal(0, 40, 3), moved(model, 5, 0.3)
        before = capture(model, x)
        switches = Switches(model, x)
        step_to(model, end)
        after = capture(model, x)
        parity = {name: torch.zeros_like(bits) for name, bits in before.to_dense().items()}
        for one in switches.step():
            parity[one.layer][(one.example, *one.unit)] ^= True
        for name, flipped in parity.items():
            assert torch.equal(flipped, before[name].to_dense() ^ after[name].to_dense())

    def test_steps_follow_one_another_and_a_gate_opens_and_closes_in_turn(self):
        model = fully_connected(2, 6, 6, 1, bias=True)
        x, y = normal(0, 10, 2), normal(1, 10, 1)
        switches = Switches(model, x)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
        state = capture(model, x).to_dense()
        for number in range(30):
            batch = torch.arange(number % 5, 10, 5)
            optimizer.zero_grad()
            (model(x[batch]) - y[batch]).square().mean().backward()
            optimizer.step()
            new = switches.step()
            assert all(one.step == number and one.lo < one.hi <= number + 1 for one in new)
        assert len(switches.found) > 10
        assert [one.lo for one in switches.found] == sorted(one.lo for one in switches.found)
        for one in switches.found:
            assert bool(state[one.layer][(one.example, *one.unit)]) != one.opened
            state[one.layer][(one.example, *one.unit)] = one.opened
        assert all(torch.equal(state[name], bits) for name, bits in capture(model, x).to_dense().items())

    def test_flips_at_once_share_a_bracket(self):
        """Three units of one layer with the same weights, for two equal examples."""
        model = fully_connected(1, 3, 1)
        fill(model, 1.0)
        switches = Switches(model, torch.ones(2, 1).double())
        fill(model, -1.0)
        found = switches.step()
        assert len(found) == 6
        assert {(one.lo, one.hi) for one in found} == {(511 / 1024, 512 / 1024)}

    def test_a_flip_at_a_steps_very_end_belongs_to_that_step_and_is_told_once(self):
        model = fully_connected(1, 1, 1)
        fill(model, 1.0)
        switches = Switches(model, torch.ones(1, 1).double())
        fill(model, 0.0)
        (closed,) = switches.step()
        assert (closed.hi, closed.opened) == (1.0, False)
        fill(model, -1.0)
        assert switches.step() == []
        fill(model, 1.0)
        (opened,) = switches.step()
        assert (opened.step, opened.opened) == (2, True)

    def test_a_step_of_no_length_has_no_flips_and_counts(self):
        model = fully_connected(2, 3, 1)
        switches = Switches(model, normal(0, 4, 2))
        assert switches.step() == []
        assert switches.steps == 1


def there_and_back() -> tuple[nn.Module, Tensor, nn.Module]:
    """On the way to the other model, 1 + w₂(t) w₁(t) x goes from 1 to below 0 and back to 1: each factor is
    0 once.
    """
    model = fully_connected(1, 1, 1, 1, bias=True)
    other = copy.deepcopy(model)
    numbers = {"0.weight": (4.0, 0.0), "0.bias": (0.0, 1e-3), "2.weight": (0.0, -1.2), "2.bias": (1.0, 1.0)}
    with torch.no_grad():
        for name, (start, end) in numbers.items():
            model.get_parameter(name).fill_(start)
            other.get_parameter(name).fill_(end)
    return model, torch.ones(1, 1).double(), other


def gate(flip: oracle.Flip) -> tuple[int, int, int]:
    return flip.layer, flip.unit, flip.example


def lasting(flips: list[oracle.Flip]) -> list[bool]:
    """Whether the states before and after each flip last for a thousandth of a step."""
    least = oracle.PLACES / PARTS + 1
    answers = []
    for flip in flips:
        others = [other.place for other in flips if gate(other) == gate(flip) and other is not flip]
        ends = [-math.inf, *others, math.inf]
        answers.append(all(abs(place - flip.place) > least for place in ends))
    return answers


class TestTraining:
    @pytest.mark.parametrize("momentum", [0.0, 0.9])
    def test_it_goes_on_bit_for_bit_as_without(self, momentum: float):
        with_switches, without = trained(True, momentum), trained(False, momentum)
        assert with_switches.keys() == without.keys()
        for name, value in without.items():
            assert torch.equal(with_switches[name], value), name

    def test_the_model_is_left_as_it_was_found(self):
        model = noisy()
        x = normal(0, 6, 3, 4, 4, dtype=torch.float32)
        model[0].requires_grad_(False)
        model(x).sum().backward()
        calls: list[int] = []
        model.register_forward_hook(lambda *_: calls.append(1))
        before, random = copy.deepcopy(model.state_dict()), torch.get_rng_state()
        gradients = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
        modes = [module.training for module in model.modules()]
        hooks = len(model._forward_hooks)
        switches = Switches(model, x)
        with torch.no_grad():
            model.get_parameter("6.weight").mul_(-1)
        before["6.weight"] = -before["6.weight"]
        switches.step()
        assert all(torch.equal(model.state_dict()[name], value) for name, value in before.items())
        assert [module.training for module in model.modules()] == modes == [True] * len(modes)
        for parameter, gradient in zip(model.parameters(), gradients, strict=True):
            assert (parameter.grad is None) == (gradient is None)
            assert gradient is None or torch.equal(parameter.grad, gradient)  # pyright: ignore[reportArgumentType]
        assert not model.get_parameter("0.weight").requires_grad
        assert len(model._forward_hooks) == hooks
        assert torch.equal(torch.get_rng_state(), random)

    def test_gates_are_those_of_evaluation_mode_whatever_the_mode(self):
        x = normal(0, 6, 3, 4, 4, dtype=torch.float32)
        found = []
        for mode in (True, False):
            model = noisy().train(mode)
            switches = Switches(model, x)
            with torch.no_grad():
                model.get_parameter("0.weight").add_(0.1)
            found.append(switches.step())
        assert found[0] == found[1] != []

    def test_running_statistics_that_move_flip_gates_without_any_weight_moving(self):
        model = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))
        switches = Switches(model, normal(0, 6, 2, dtype=torch.float32))
        model(normal(1, 50, 2, dtype=torch.float32) + 3)
        assert len(switches.step()) > 0


def noisy() -> nn.Sequential:
    """Whatever training mode changes: batch statistics, dropout."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.3), nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2),
    )  # fmt: skip


def trained(follow: bool, momentum: float) -> dict[str, Tensor]:
    model = noisy()
    x, y = normal(0, 24, 3, 4, 4, dtype=torch.float32), normal(1, 24, 2, dtype=torch.float32)
    switches = Switches(model, x[:5]) if follow else None
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=momentum)
    for _ in range(8):
        batch = torch.randperm(24)[:6]
        optimizer.zero_grad()
        (model(x[batch]) - y[batch]).square().mean().backward()
        optimizer.step()
        if switches is not None:
            switches.step()
    assert switches is None or switches.found
    return {
        **model.state_dict(),
        **{f"grad {n}": p.grad for n, p in model.named_parameters() if p.grad is not None},
    }


class TestHowItIsTold:
    def test_as_arrays_it_is_one_column_a_fact(self):
        model = fully_connected(2, 3, 3, 1)
        switches = Switches(model, normal(0, 6, 2))
        assert all(len(column) == 0 for column in switches.as_arrays().values())
        step_to(model, moved(model, 0, 1.0))
        found = switches.step()
        columns = switches.as_arrays()
        assert list(columns) == ["lo", "hi", "layer", "unit", "example", "opened", "changes_npf"]
        for row, one in enumerate(found):
            assert tuple(column[row] for column in columns.values()) == (
                *(one.lo, one.hi, one.layer, one.unit, one.example, one.opened),
                int(bool(one.changes_npf)),
            )

    def test_printed_it_is_a_table_of_the_last_ones(self):
        model = fully_connected(2, 8, 8, 1)
        switches = Switches(model, normal(0, 8, 2))
        assert str(switches) == "Switches(0 steps, 0 flips, 0 of which change a neural path feature)"
        step_to(model, moved(model, 0, 1.0))
        switches.step()
        lines = str(switches).splitlines()
        assert lines[0] == repr(switches)
        assert lines[1] == f"the last 20 of {len(switches.found)}"
        last = switches.found[-1]
        assert lines[-1].split()[0] == f"{last.hi:.4f}"
        assert last.direction in lines[-1]
