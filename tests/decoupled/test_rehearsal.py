"""The first call of a pair: what a watch cannot see is refused, and the rehearsal leaves no trace."""

import warnings
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from decoupled.cases import two_layers
from networks import awkward, hidden
from penstock import PenstockError, Soft, decouple

X = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))


def scripted(q: Tensor) -> Tensor:
    return torch.relu(q)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: hidden.ScriptedFunction(scripted), "is a gate that runs where it cannot be watched"),
        (hidden.CustomFunction, "is a custom autograd Function, in which gates cannot be watched"),
        (hidden.AffineCustomFunction, "is a custom autograd Function"),
        (lambda: nn.Sequential(nn.Linear(4, 2), nn.Tanh()), r"the layer value \(Sequential\) has no gates"),
        (lambda: awkward.Called(lambda q: q * (q > 0)), "a gate written by hand, such as x"),
    ],
)
def test_gates_that_a_watch_does_not_see_are_refused_at_the_first_call(make: Any, says: str):
    pair = decouple(make())
    for _ in range(2):
        with pytest.raises(PenstockError, match=says):
            pair(X)


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_checkpoint_is_refused_where_gradients_are_on(reentrant: bool):
    model = awkward.Checkpointed(reentrant)
    pair = decouple(model)
    x = X.clone().requires_grad_()
    with torch.no_grad(), warnings.catch_warnings():
        # torch's own, of a checkpoint without gradients
        warnings.simplefilter("ignore", UserWarning)
        assert torch.equal(pair(x), model(x))
    with pytest.raises(PenstockError, match=r"again in the backward pass \(torch.utils.checkpoint\)"):
        pair(x)


def test_train_feature_needs_gates_that_learn():
    for model in (two_layers(), awkward.Called(torch.abs)):
        with pytest.raises(PenstockError, match="no derivative goes through gates that are hard"):
            decouple(model, train="feature")(X)
    decouple(two_layers(), Soft(), train="feature")(X).sum().backward()
    # a gate that is smooth by itself, and slopes, learn under Hard too
    for own in (nn.SiLU(), nn.PReLU()):
        pair = decouple(nn.Sequential(nn.Linear(4, 6), own, nn.Linear(6, 2)), train="feature")
        pair(X).sum().backward()
        assert any(each.grad is not None for each in pair.feature.parameters())


class Fickle(nn.Module):
    """Calls a function that can be changed."""

    def __init__(self):
        super().__init__()
        self.first, self.last, self.act = nn.Linear(4, 6), nn.Linear(6, 2), nn.ModuleList([nn.ReLU()])

    def forward(self, x: Tensor) -> Tensor:
        h = self.first(x)
        for act in self.act:
            h = act(h)
        return self.last(h)


def test_two_networks_that_make_other_calls_are_refused():
    pair = decouple(Fickle())
    pair.value.act[0] = nn.ReLU6()  # pyright: ignore
    with pytest.raises(PenstockError, match=r"act.0 is ReLU in the feature network and ReLU6 in the value"):
        pair(X)
    pair = decouple(Fickle())
    pair.feature.act.append(nn.ReLU())  # pyright: ignore
    with pytest.raises(PenstockError, match=r"the feature network calls act.1, which the value network does"):
        pair(X)
    pair = decouple(Fickle())
    pair.value.act.append(nn.ReLU())  # pyright: ignore
    with pytest.raises(PenstockError, match=r"the value network calls act.1, which the feature network does"):
        pair(X)


def test_where_control_flow_parts_later_the_call_is_refused():
    class Deciding(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(4, 6), nn.Linear(6, 2)
            nn.init.ones_(self.first.bias)

        def forward(self, x: Tensor) -> Tensor:
            h = torch.relu(self.first(x))
            return self.last(torch.relu(h - 0.1) if self.first.bias.sum() > 0 else h)

    pair = decouple(Deciding())
    pair(X)
    nn.init.constant_(pair.feature.get_parameter("first.bias"), -1)
    with pytest.raises(PenstockError, match=r"the value network calls relu:2, .* give both one control flow"):
        pair(X)


def test_a_relu_of_weights_is_no_gate_in_later_passes_either():
    model = awkward.PositiveWeights()
    pair = decouple(model, Soft())
    for _ in range(2):
        h = model.first(X) * Soft().value(model.first(X))
        wanted = h @ torch.relu(model.raw * model.scale.abs()[:, None]).T
        torch.testing.assert_close(pair(X), wanted)
    pair(X).sum().backward()
    assert pair.value.raw.grad is not None


def test_a_network_that_writes_into_its_input_gets_a_copy_of_it():
    class Writing(nn.Module):
        def __init__(self):
            super().__init__()
            self.last = nn.Linear(4, 2)

        def forward(self, x: Tensor) -> Tensor:
            return self.last(F.relu(x, inplace=True))

    model = Writing()
    wanted = model(X.clone())
    pair = decouple(model)
    for _ in range(2):
        x = X.clone()
        assert torch.equal(pair(x), wanted)
        # as the model itself does
        assert torch.equal(x, X.relu())


def test_training_and_evaluation_are_rehearsed_apart():
    class HidingInTraining(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 2)
            self.inner = hidden.CustomFunction(4, 4)

        def forward(self, x: Tensor) -> Tensor:
            h = torch.relu(self.first(x))
            return self.inner(h) if self.training else self.last(h)

    pair = decouple(HidingInTraining().eval())
    pair(X)
    with pytest.raises(PenstockError, match="custom autograd Function"):
        pair.train()(X)
    pair.eval()(X)
