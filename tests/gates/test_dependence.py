"""What depends on the input is told from what is held."""

import pytest
import torch
from torch import Tensor, nn

from networks.awkward import PositiveWeights
from penstock import capture
from penstock.gates.following import Following


class Signals(Following):
    """Which calls are made on the signal, in their order, held ones too."""

    def __init__(self, model):
        super().__init__(model)
        self.found = []

    def is_signal(self, q: Tensor) -> bool:
        self.found.append(super().is_signal(q))
        return self.found[-1]

    def on_call(self, name, kind, q):
        return None


class Of(nn.Module):
    """The ReLU of what a function makes of a weight, a buffer and the input."""

    def __init__(self, function):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 3))
        self.register_buffer("mask", torch.ones(3, 3))
        self.plain = [torch.ones(3, 3)]
        self.function = function

    def forward(self, x):
        h = torch.relu(self.function(self, x))
        return x + h.sum()


def written(m, x):
    space = torch.zeros(3, 3)
    space[1] = x[0]
    return space


def written_by_name(m, x):
    space = torch.zeros(3, 3)
    torch.add(x[:3], 1.0, out=space)
    return space


def written_through_a_view(m, x):
    space = torch.zeros(9)
    space.view(3, 3)[:, 1].copy_(x[:3, 0])
    return space


def written_into_a_buffer(m, x):
    m.mask.mul_(x[:3].mean())
    return m.mask


HELD = {
    "a weight": lambda m, x: m.weight,
    "a buffer": lambda m, x: m.mask,
    "an attribute": lambda m, x: m.plain[0],
    "their product": lambda m, x: (m.weight * m.mask).T @ m.plain[0] + 1,
    "a view": lambda m, x: m.weight[1:].reshape(-1).detach(),
    "a constant": lambda m, x: torch.arange(3.0) - 1,
    "several at once": lambda m, x: torch.cat([m.weight, m.mask]).chunk(2)[0],
    "written in place": lambda m, x: torch.zeros(3, 3).copy_(m.weight),
    "the shape of the input alone": lambda m, x: m.weight * len(x),
}

SIGNAL = {
    "the input": lambda m, x: x,
    "a product with it": lambda m, x: x[:3] @ m.weight,
    "its part": lambda m, x: x[:1],
    "put into a space": written,
    "put into a space by name": written_by_name,
    "put into a space through a view": written_through_a_view,
    "put into a buffer": written_into_a_buffer,
    "a weight times it": lambda m, x: m.weight * x.sum(),
    "out of NumPy": lambda m, x: torch.from_numpy(x.detach().numpy()),
    "out of Python": lambda m, x: torch.tensor(x.tolist()),
    "detached": lambda m, x: x.detach(),
    "sorted": lambda m, x: x.sort().values,
}


@pytest.mark.parametrize("what", HELD)
def test_what_comes_from_the_model_alone_is_held(what):
    watch = Signals(Of(HELD[what]))
    watch.run(torch.randn(3, 3))
    assert watch.found == [False]


@pytest.mark.parametrize("what", SIGNAL)
def test_what_comes_from_the_input_is_signal(what):
    watch = Signals(Of(SIGNAL[what]))
    with torch.no_grad():
        watch.run(torch.randn(3, 3))
    assert watch.found == [True]


def test_memory_that_is_used_again_is_not_mistaken():
    class Busy(nn.Module):
        def forward(self, x):
            for _ in range(50):
                # held numbers come and go where signals come and go
                torch.relu(torch.ones(64, 64) * 2)
                x = torch.relu(x + 1)
            return x

    watch = Signals(Busy())
    watch.run(torch.randn(64, 64))
    assert watch.found == [False, True] * 50


def test_an_input_that_the_model_has_kept_is_signal_all_the_same():
    model, x = Of(lambda m, x: x), torch.randn(3, 3)
    model.kept = x
    watch = Signals(model)
    watch.run(x)
    assert watch.found == [True]


def test_the_relu_of_a_weight_opens_no_gate_of_any_example():
    record = capture(PositiveWeights(), torch.randn(5, 4))
    assert record.names == ("relu",)
    assert record["relu"].shape == (6,)
