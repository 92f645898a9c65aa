import copy
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from networks.fully_connected import fully_connected
from networks.residual import ResNet18
from penstock import Monitor, PenstockError, capture


class Mixed(nn.Module):
    """What a training loop might bring: BatchNorm, dropout, a smooth gate, a ReLU in place that is called
    twice.
    """

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Linear(5, 8), nn.BatchNorm1d(8)
        self.relu, self.drop = nn.ReLU(inplace=True), nn.Dropout(0.5)
        self.second, self.last = nn.Linear(8, 8), nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        h = self.drop(self.relu(self.norm(self.first(x))))
        return self.last(nn.functional.silu(self.relu(self.second(h))))


def train(model: nn.Module, steps: int, after_step: Callable[[], None] = lambda: None) -> list[float]:
    """Stochastic in every way that torch and NumPy are (what checks types in these tests draws from Python's
    `random`).
    """
    torch.manual_seed(0)
    np.random.seed(0)
    x = torch.randn(40, 5)
    loader = DataLoader(TensorDataset(x, x[:, :2].sin()), batch_size=8, shuffle=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    losses = []
    while len(losses) < steps:
        for inputs, targets in loader:
            noise = torch.randn_like(inputs) * np.random.rand()
            loss = (model(inputs + noise) - targets).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            after_step()
    return losses


def state(model: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def first_layer(model: nn.Module) -> nn.Linear:
    layer = next(model.children())
    assert isinstance(layer, nn.Linear)
    return layer


def draw_and_disturb(model: nn.Module, probe: Tensor) -> float:
    """A measurement that does everything it should not."""
    model.zero_grad()
    loss = model(probe).square().mean() + torch.rand(()) + np.random.rand()
    loss.backward()
    for buffer in model.buffers():
        buffer.zero_()
    return float(loss.detach())


class TestTrainingIsLeftAlone:
    def test_a_run_with_a_monitor_is_the_run_without_it_bit_for_bit(self):
        torch.manual_seed(1)
        alone = Mixed()
        watched = copy.deepcopy(alone)
        probe = torch.randn(6, 5)
        loader = DataLoader(TensorDataset(probe), batch_size=4)
        monitor = Monitor(watched, loader, every=2, also={"disturb": draw_and_disturb})
        assert train(alone, 25) == train(watched, 25, monitor.step)
        for name, tensor in state(alone).items():
            assert torch.equal(tensor, state(watched)[name]), name

    def test_a_look_between_forward_and_backward_changes_no_gradient(self):
        torch.manual_seed(1)
        model, x = Mixed(), torch.randn(6, 5)
        monitor = Monitor(model, torch.randn(4, 5), every=1)
        gradients = []
        for look in (lambda: None, monitor.step):
            model.zero_grad()
            torch.manual_seed(2)
            loss = model(x).square().mean()
            look()
            loss.backward()
            gradients.append([parameter.grad.clone() for parameter in model.parameters()])  # pyright: ignore[reportOptionalMemberAccess]
        assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))

    def test_every_layer_keeps_its_own_mode(self):
        model = Mixed()
        model.norm.eval()
        modes = [module.training for module in model.modules()]
        monitor = Monitor(model, torch.randn(4, 5), every=1)
        monitor.step()
        assert [module.training for module in model.modules()] == modes

    def test_so_it_does_when_a_measurement_fails(self):
        def fail(model: nn.Module, probe: Tensor) -> None:
            raise ZeroDivisionError

        model = Mixed()
        with pytest.raises(ZeroDivisionError):
            Monitor(model, torch.randn(4, 5), also={"fail": fail})
        assert all(module.training for module in model.modules())


class TestHistory:
    def test_it_looks_at_the_start_and_at_every_so_many_steps(self):
        model = fully_connected(3, 4, 1)
        monitor = Monitor(model, torch.randn(5, 3, dtype=torch.float64), every=3)
        for _ in range(10):
            monitor.step()
        assert monitor.history["step"].tolist() == [0, 3, 6, 9]
        assert monitor.steps == 10
        monitor.look()
        assert monitor.history["step"].tolist() == [0, 3, 6, 9, 10]

    def test_what_it_counts_is_what_capture_sees(self):
        torch.manual_seed(0)
        model, probe = fully_connected(3, 16, 16, 1, bias=True), torch.randn(20, 3, dtype=torch.float64)
        monitor = Monitor(model, probe, every=1)
        records = [capture(model, probe)]
        for _ in range(4):
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter += 0.5 * torch.randn_like(parameter)
            monitor.step()
            records.append(capture(model, probe))
        history = monitor.history
        for name in records[0]:
            gates = [record.to_dense()[name] for record in records]
            assert history["open"][name].tolist() == pytest.approx([float(g.double().mean()) for g in gates])
            assert history["dead"][name].tolist() == [int((~g.any(0)).sum()) for g in gates]
            flipped = [0, *(int((a != b).sum()) for a, b in pairwise(gates))]
            assert history["flipped"][name].tolist() == flipped
            assert history["flipped_since_start"][name].tolist() == [
                int((g != gates[0]).sum()) for g in gates
            ]
            assert sum(flipped) > 0
        assert monitor.first == records[0]
        assert monitor.last == records[-1]

    def test_looks_are_taken_in_evaluation_mode(self):
        model = Mixed()
        probe = torch.randn(7, 5)
        monitor = Monitor(model, probe, every=1, also={"modes": lambda model, _: model.training})
        assert monitor.first["relu"] == capture(model.eval(), probe)["relu"]
        assert monitor.history["modes"].tolist() == [False]

    def test_smooth_gates_count_as_open_above_a_half(self):
        model, probe = nn.Sequential(nn.Linear(3, 50), nn.GELU()), torch.randn(20, 3)
        monitor = Monitor(model, probe)
        expected = (first_layer(model)(probe) > 0).double().mean()
        assert monitor.history["open"]["1"][0] == pytest.approx(float(expected))

    def test_a_steep_leaky_gate_is_open_where_q_is_positive(self):
        model, probe = nn.Sequential(nn.Linear(3, 50), nn.LeakyReLU(0.9)), torch.randn(20, 3)
        expected = (first_layer(model)(probe) > 0).double().mean()
        assert Monitor(model, probe).history["open"]["1"][0] == pytest.approx(float(expected))

    def test_a_unit_that_dies_is_counted(self):
        model, probe = fully_connected(2, 3, 1, bias=True), torch.rand(9, 2, dtype=torch.float64)
        with torch.no_grad():
            first_layer(model).bias.fill_(10)
        monitor = Monitor(model, probe, every=1)
        with torch.no_grad():
            first_layer(model).bias[1] = -10
        monitor.step()
        assert monitor.history["dead"]["1"].tolist() == [0, 1]
        assert monitor.history["flipped"]["1"].tolist() == [0, 9]

    def test_the_probe_is_the_monitors_own(self):
        probe = torch.randn(5, 3, dtype=torch.float64)
        monitor = Monitor(fully_connected(3, 4, 1), probe, every=1)
        probe.neg_()
        monitor.step()
        assert monitor.history["flipped"]["1"].tolist() == [0, 0]

    def test_measurements_of_any_shape_are_kept(self):
        looks = []

        def growing(model: nn.Module, probe: Tensor) -> list[int]:
            looks.append(0)
            return looks.copy()

        measurements = {
            "number": lambda model, probe: len(probe),
            "tensor": lambda model, probe: model(probe),
            "growing": growing,
        }
        model = fully_connected(3, 4, 2)
        monitor = Monitor(model, torch.randn(5, 3, dtype=torch.float64), every=1, also=measurements)
        monitor.step()
        assert monitor.history["number"].tolist() == [5, 5]
        assert monitor.history["tensor"].shape == (2, 5, 2)
        assert [row.tolist() for row in monitor.history["growing"]] == [[0], [0, 0]]

    def test_a_measurement_keeps_what_it_saw_when_the_model_moves_on(self):
        model = fully_connected(3, 4, 1)
        monitor = Monitor(
            model,
            torch.randn(5, 3, dtype=torch.float64),
            also={"weight": lambda model, _: first_layer(model).weight},
        )
        before = first_layer(model).weight.detach().clone()
        torch.nn.init.zeros_(first_layer(model).weight)
        assert torch.equal(torch.from_numpy(monitor.history["weight"][0]), before)

    def test_what_it_costs_is_told(self):
        monitor = Monitor(fully_connected(3, 4, 1), torch.randn(5, 3, dtype=torch.float64), every=1)
        monitor.step()
        assert (monitor.history["seconds"] > 0).all()
        assert 0 < monitor.cost <= 1
        assert repr(monitor).startswith("Monitor of 1 layers on 5 inputs: 2 looks in 1 steps, 0.")


class TestPlot:
    def test_every_layer_and_every_measurement_is_drawn(self):
        model = fully_connected(3, 8, 8, 1)
        also = {
            "norm": lambda model, _: first_layer(model).weight.norm(),
            "outputs": lambda model, probe: model(probe),
        }
        monitor = Monitor(model, torch.randn(50, 3, dtype=torch.float64), every=1, also=also)
        torch.nn.init.normal_(first_layer(model).weight)
        monitor.step()
        panels = {axes.get_title(loc="left"): axes for axes in monitor.plot().axes}
        assert list(panels) == [
            "gates open",
            "units dead",
            "gates flipped since the last look",
            "gates flipped since the start",
            "norm",
        ]
        flipped = panels["gates flipped since the start"].lines
        assert [line.get_label() for line in flipped] == ["1", "3"]
        share = monitor.history["flipped_since_start"]["1"] / (8 * 50)
        assert np.allclose(np.asarray(flipped[0].get_ydata()), 100 * share)
        assert np.allclose(np.asarray(panels["norm"].lines[0].get_ydata()), monitor.history["norm"])

    def test_many_layers_are_told_apart_by_a_scale(self):
        monitor = Monitor(ResNet18(width=2), torch.randn(2, 3, 32, 32))
        bar = monitor.plot().axes[-1]
        labels = [label.get_text() for label in bar.get_yticklabels()]
        assert labels[0] == "stem.2"
        assert labels[-1] == "layers.3.1.relu:2"


class TestRefusals:
    @pytest.mark.parametrize("every", [0, -1])
    def test_every_must_be_a_number_of_steps(self, every: int):
        with pytest.raises(PenstockError, match="at least 1, not every"):
            Monitor(fully_connected(3, 4, 1), torch.randn(5, 3, dtype=torch.float64), every=every)

    def test_a_measurement_may_not_hide_the_monitors_own(self):
        with pytest.raises(PenstockError, match="cannot be called 'dead'"):
            Monitor(
                fully_connected(3, 4, 1), torch.randn(5, 3, dtype=torch.float64), also={"dead": lambda *_: 0}
            )

    def test_a_probe_of_another_dtype_is_refused_and_the_model_left_as_it_was(self):
        model = Mixed()
        with pytest.raises(PenstockError, match=r"float64.*float32"):
            Monitor(model, torch.randn(5, 5, dtype=torch.float64))
        assert model.training
