"""`pad=m`: every gate m times (N Definition C.1), in a value network m times as wide."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import parametrizations, prune

from decoupled.cases import small_convolutions, two_layers
from networks import convolutional, residual
from networks.fully_connected import Skipping
from penstock import PenstockError, Soft, capture, decouple

Case = tuple[Callable[[], nn.Module], tuple[int, ...]]


def depthwise() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3),
        nn.ReLU(),
        nn.Conv2d(4, 8, 3, groups=4),
        nn.ReLU6(),
        nn.Conv2d(8, 3, 1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(48, 2),
    )


def chain(*layers: nn.Module) -> nn.Module:
    """With a ReLU between any two."""
    return nn.Sequential(*[each for layer in layers for each in (layer, nn.ReLU())][:-1])


CASES: dict[str, Case] = {
    "fully connected": (two_layers, (5, 4)),
    "skipping": (Skipping, (5, 3)),
    "flattened, leaky, pooled": (small_convolutions, (5, 1, 8, 8)),
    "with BatchNorm": (lambda: small_convolutions(norm=True).eval(), (5, 1, 8, 8)),
    "a small residual network": (convolutional.SmallResNet, (5, 1, 4, 4)),
    "ResNet-18": (lambda: residual.ResNet18(4, pooled=True).eval(), (2, 3, 32, 32)),
    "depthwise": (depthwise, (2, 1, 8, 8)),
    "transposed": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 3, 3), nn.ReLU(), nn.ConvTranspose2d(3, 2, 3), nn.ReLU(), nn.Conv2d(2, 1, 1)
        ),
        (2, 1, 6, 6),
    ),
    "PReLU": (lambda: nn.Sequential(nn.Linear(4, 6), nn.PReLU(6), nn.Linear(6, 2)), (5, 4)),
    "gates at the output": (
        lambda: nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2), nn.ReLU()),
        (5, 4),
    ),
}


def side_by_side(wide: Tensor, weight: Tensor) -> Tensor:
    """A weight as often as it goes into a wider one, over the number of copies that its inputs have."""
    times = [a // b for a, b in zip(wide.shape, weight.shape, strict=True)]
    return weight.repeat(times) / (times[1] if weight.ndim > 1 else 1)


def fill_side_by_side(pair_value: nn.Module, model: nn.Module) -> None:
    own = dict(model.named_modules())
    with torch.no_grad():
        for name, module in pair_value.named_modules():
            for each, parameter in module.named_parameters(recurse=False):
                weight = own[name].get_parameter(each)
                if isinstance(module, nn.ConvTranspose2d) and each == "weight":
                    parameter.copy_(
                        weight.repeat([a // b for a, b in zip(parameter.shape, weight.shape, strict=True)])
                    )
                    parameter.div_(parameter.shape[0] // weight.shape[0])
                elif isinstance(module, nn.PReLU):
                    continue
                else:
                    parameter.copy_(side_by_side(parameter, weight))
            for each, buffer in module.named_buffers(recurse=False):
                if buffer.ndim:
                    buffer.copy_(side_by_side(buffer, own[name].get_buffer(each)))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("times", [2, 3])
def test_copies_of_the_model_side_by_side_are_the_model(name: str, times: int):
    """G(kw + i) = G(i) all the way: m copies, each connection shared out among them, add up to the model.

    A gate that went to another unit, or channels flattened in another order, would show.
    """
    torch.manual_seed(0)
    make, shape = CASES[name]
    model, x = make().double(), torch.randn(shape, dtype=torch.float64)
    pair = decouple(model, pad=times)
    fill_side_by_side(pair.value, model)
    torch.testing.assert_close(pair(x), model(x), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["fully connected", "flattened, leaky, pooled", "depthwise"])
def test_the_gates_are_those_of_the_model_again_and_again(name: str):
    torch.manual_seed(0)
    make, shape = CASES[name]
    model, x = make(), torch.randn(shape)
    pair = decouple(model, pad=3)
    record = capture(pair, x)
    for each, layer in capture(model, x).items():
        gates = layer.to_dense()
        wanted = gates.repeat(1, 3, *[1] * (gates.ndim - 2))
        assert torch.equal(record[f"value.{each}"].to_dense(), wanted)
        assert torch.equal(record[f"feature.{each}"].to_dense(), gates)
    record.verify(pair, x)


def test_soft_gates_learn_through_all_their_copies():
    torch.manual_seed(0)
    pair = decouple(two_layers().double(), Soft(2.0), pad=2)
    x = torch.randn(3, 4, dtype=torch.float64)
    first = pair.feature.get_parameter("0.weight")
    own = first.detach().clone()

    def outputs(weight: Tensor) -> Tensor:
        return torch.func.functional_call(pair, {"feature.0.weight": weight}, (x,))

    pair(x)
    assert torch.autograd.gradcheck(outputs, (own.requires_grad_(),))


def test_the_wider_weights_are_drawn_as_a_layer_of_that_width_draws_them():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(40, 50), nn.ReLU(), nn.Linear(50, 50), nn.ReLU(), nn.Linear(50, 3))
    value = decouple(model, pad=4).value
    for layer, (inputs, outputs) in zip((0, 2, 4), ((40, 200), (200, 200), (200, 3)), strict=True):
        weight = value.get_parameter(f"{layer}.weight")
        assert weight.shape == (outputs, inputs)
        end = inputs**-0.5
        assert 0.95 * end < weight.abs().max() <= end


def test_layers_that_share_a_weight_go_on_sharing_one():
    model = nn.Sequential(*[each for _ in range(3) for each in (nn.Linear(6, 6), nn.ReLU())], nn.Linear(6, 2))
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), *model)
    model[4].weight = model[2].weight
    value = decouple(model, pad=2).value
    assert value[4].weight is value[2].weight  # pyright: ignore[reportIndexIssue]
    assert value[4].weight.shape == (12, 12)  # pyright: ignore[reportIndexIssue]


class InputSkip(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(torch.relu(self.first(x) + x))


class OutOfOrder(nn.Module):
    """Its last layer is registered before another hidden one."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 6), nn.Linear(6, 6)
        self.extra = nn.Linear(6, 6)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(torch.relu(self.first(x)))


def with_first(wrap: Callable[[nn.Module], object]) -> Callable[[], nn.Module]:
    def make() -> nn.Module:
        model = two_layers()
        wrap(model[2])
        return model

    return make


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: nn.Sequential(nn.Linear(4, 6), nn.ReLU()), "has no hidden layer that could be made wider"),
        (
            lambda: nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.ReLU(), nn.Linear(6, 2)),
            r"the layer 1 \(LayerNorm\) cannot be made 2 times as wide; pad= takes modules of linear",
        ),
        (
            lambda: nn.Sequential(
                nn.Linear(4, 6), nn.GroupNorm(2, 6, affine=False), nn.ReLU(), nn.Linear(6, 2)
            ),
            r"the layer 1 \(GroupNorm\) cannot be made",
        ),
        (
            lambda: nn.Sequential(
                nn.Conv1d(4, 4, 1), nn.ReLU(), nn.Conv1d(4, 4, 1, groups=2), nn.ReLU(), nn.Conv1d(4, 2, 1)
            ),
            r"the layer 2 \(Conv1d\) cannot be made .* grouped convolutions only where each channel",
        ),
        (
            lambda: nn.Sequential(nn.Conv1d(4, 4, 1, groups=4), nn.ReLU(), nn.Conv1d(4, 2, 1)),
            r"the layer 0 \(Conv1d\)",
        ),
        (with_first(parametrizations.weight_norm), "and no derived weights"),
        (
            with_first(lambda layer: prune.random_unstructured(layer, "weight", 0.5)),
            r"the layer 2 \(Linear\) cannot",
        ),
        (convolutional.TiedAutoencoder, "has no hidden layer"),
    ],
)
def test_what_has_no_wider_version_is_refused(make: Callable[[], nn.Module], says: str):
    with pytest.raises(PenstockError, match=says):
        decouple(make(), pad=2)


@pytest.mark.parametrize(
    ("model", "x", "says"),
    [
        (InputSkip(), torch.ones(2, 4), "the value network, its hidden layers 2 times as wide, cannot run"),
        (convolutional.Concatenating(), torch.ones(2, 1, 6).double(), "registered first alone"),
        (
            OutOfOrder(),
            torch.ones(2, 4),
            "then the output has shape 2×12 instead of 2×6; register",
        ),
    ],
)
def test_where_widths_do_not_fit_the_first_call_says_so(model: nn.Module, x: Tensor, says: str):
    with pytest.raises(PenstockError, match=says):
        decouple(model, pad=2)(x)


def test_gates_from_outside_are_padded_too():
    pair = decouple(two_layers(), gates=[torch.rand(5, 6) < 0.5] * 2, pad=2)
    x = torch.randn(5, 4)
    record = capture(pair, x)
    assert record["value.1"].shape == (12,)
    assert torch.equal(record["value.1"].to_dense()[:, :6], record["value.1"].to_dense()[:, 6:])


def test_a_functional_pooling_and_flattening_keep_channels_together():
    """The one place where units could be told apart wrongly: what a flattening makes of channels."""

    class Flattening(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.middle, self.last = nn.Conv2d(1, 3, 3), nn.Linear(27, 5), nn.Linear(5, 1)

        def forward(self, x: Tensor) -> Tensor:
            h = F.max_pool2d(self.conv(x), 2).flatten(1)
            return self.last(F.relu(self.middle(F.relu(h))))

    torch.manual_seed(1)
    model, x = Flattening().double(), torch.randn(4, 1, 8, 8, dtype=torch.float64)
    pair = decouple(model, pad=2)
    fill_side_by_side(pair.value, model)
    torch.testing.assert_close(pair(x), model(x), rtol=1e-10, atol=1e-12)
