"""Which modules `Switches` follows, in every form and dtype, and which it refuses."""

import copy
import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrizations, prune

import penstock
from networks.fully_connected import fully_connected
from networks.moving import fill, moved, normal, step_to
from networks.residual import ResNet18
from penstock import PenstockError, Switches, capture


class InDictionary(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = fully_connected(2, 4, 1)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"y": self.net(x)}


class Turning(nn.Module):
    """Takes another way when its weight is negative."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(self.first(x))
        return torch.relu(h - 1) if bool(self.first.weight[0, 0] < 0) else h


class TestWhatItReads:
    def test_names_and_units_are_those_of_the_gate_record(self):
        torch.manual_seed(0)
        model = ResNet18(width=4, pooled=True).eval()
        x = normal(0, 2, 3, 32, 32, dtype=torch.float32)
        switches = Switches(model, x)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(1e-4 * torch.randn_like(parameter))
        record = capture(model, x)
        found = switches.step()
        assert {one.layer for one in found} <= set(record)
        assert any(one.layer.endswith(":2") for one in found)
        for one in found[-20:]:
            assert len(one.unit) == len(record[one.layer].shape)
            assert all(index < size for index, size in zip(one.unit, record[one.layer].shape, strict=True))

    def test_an_array_is_a_probe_too(self):
        model = fully_connected(2, 3, 1)
        end = moved(model, 0, 1.0)
        x = normal(0, 5, 2)
        by_tensor, by_array = Switches(copy.deepcopy(model), x), Switches(model, x.numpy())
        step_to(by_tensor._model, end)
        step_to(model, end)
        assert by_tensor.step() == by_array.step() != []

    @pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
    def test_half_precision_is_looked_at_in_float32(self, dtype: torch.dtype):
        model = fully_connected(2, 6, 6, 1, bias=True, dtype=dtype)
        x, end = normal(0, 5, 2).to(dtype), moved(fully_connected(2, 6, 6, 1, bias=True), 1, 1.0).to(dtype)
        single, single_end = copy.deepcopy(model).float(), copy.deepcopy(end).float()
        in_half, in_single = Switches(model, x), Switches(single, x.float())
        step_to(model, end)
        step_to(single, single_end)
        assert in_half.step() == in_single.step() != []

    def test_mixed_precision_around_it_does_not_reach_it(self):
        model = fully_connected(2, 6, 6, 1, bias=True, dtype=torch.float32)
        x, end = normal(0, 5, 2).float(), moved(model, 1, 1.0)
        plain, mixed = Switches(copy.deepcopy(model), x), Switches(model, x)
        step_to(plain._model, end)
        step_to(model, end)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            under_autocast = mixed.step()
        assert under_autocast == plain.step() != []

    def test_a_module_that_returns_a_dictionary_is_adapted(self):
        model = InDictionary()
        plain, adapted = (
            copy.deepcopy(model.net),
            penstock.adapt(model, lambda model, batch: model(batch)["y"]),
        )
        x, end = normal(0, 5, 2), moved(model, 1, 1.0)
        first, second = Switches(adapted, x), Switches(plain, x)
        step_to(model, end)
        step_to(plain, end.get_submodule("net"))
        names = [one.layer for one in first.step()]
        assert names == [f"net.{one.layer}" for one in second.step()] != []

    @pytest.mark.parametrize(
        "derive",
        [
            lambda layer: prune.l1_unstructured(layer, "weight", amount=0.4),
            parametrizations.weight_norm,
            parametrizations.spectral_norm,
        ],
    )
    def test_weights_that_are_made_from_others_are_made_at_every_place(
        self, derive: Callable[[nn.Module], nn.Module]
    ):
        model = fully_connected(2, 6, 6, 1, bias=True)
        derive(model[0])
        model.eval()
        x = normal(0, 8, 2)
        before, switches = capture(model, x).to_dense(), Switches(model, x)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(normal(1, *parameter.shape))
        found = switches.step()
        after = capture(model, x).to_dense()
        flipped = {name: torch.zeros_like(bits) for name, bits in before.items()}
        for one in found:
            flipped[one.layer][(one.example, *one.unit)] ^= True
        assert found
        assert all(torch.equal(flipped[name], before[name] ^ bits) for name, bits in after.items())
        assert {one.changes_npf for one in found} <= {True, False}


class TestRefusals:
    def test_smooth_gates_alone_never_flip(self):
        with pytest.raises(PenstockError, match="smooth gate never flips"):
            Switches(nn.Sequential(nn.Linear(2, 2), nn.GELU()), torch.randn(3, 2))

    def test_a_net_without_gates(self):
        with pytest.raises(PenstockError, match="no gates"):
            Switches(nn.Linear(2, 2), torch.randn(3, 2))

    @pytest.mark.parametrize(
        ("x", "what"),
        [
            (torch.full((2, 2), math.nan), "NaN"),
            (torch.ones(2, 3), "features"),
            (torch.ones(2, 2, dtype=torch.int64), "int64"),
            (torch.ones(0, 2), "empty"),
            (torch.ones(2, 2, dtype=torch.float64), "float64"),
        ],
    )
    def test_inputs_that_the_model_cannot_take(self, x: Tensor, what: str):
        with pytest.raises(PenstockError, match=what):
            Switches(fully_connected(2, 3, 1, dtype=torch.float32), x)

    def test_statistics_of_the_batch_in_evaluation_mode(self):
        model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2, track_running_stats=False), nn.ReLU())
        with pytest.raises(PenstockError, match="track_running_stats"):
            Switches(model, torch.randn(3, 2))

    def test_weights_that_are_not_numbers_any_more_and_the_step_can_be_taken_again(self):
        model = fully_connected(2, 3, 1)
        switches = Switches(model, normal(0, 3, 2))
        kept = copy.deepcopy(model.state_dict())
        fill(model, math.nan)
        with pytest.raises(PenstockError, match=r"0\.weight holds NaN"):
            switches.step()
        model.load_state_dict(kept)
        assert switches.step() == []
        assert switches.steps == 1

    def test_a_model_that_is_changed(self):
        model = fully_connected(2, 3, 1)
        switches = Switches(model, normal(0, 3, 2))
        model[0] = nn.Linear(2, 4, bias=False).double()
        with pytest.raises(PenstockError, match="make new Switches"):
            switches.step()

    def test_control_flow_that_depends_on_the_weights(self):
        torch.manual_seed(0)
        model = Turning()
        with torch.no_grad():
            model.first.weight.fill_(1.0)
        switches = Switches(model, torch.randn(3, 1))
        with torch.no_grad():
            model.first.weight.fill_(-1.0)
        with pytest.raises(PenstockError, match="control flow"):
            switches.step()

    @pytest.mark.parametrize(
        "wrong", [{"inner": -1}, {"inner": 50}, {"parts": 0}, {"margin": -1.0}, {"margin": math.nan}]
    )
    def test_numbers_without_a_meaning(self, wrong: dict[str, float]):
        with pytest.raises(PenstockError, match=f"{next(iter(wrong))} "):
            Switches(fully_connected(2, 3, 1), normal(0, 3, 2), **wrong)  # pyright: ignore[reportArgumentType]
