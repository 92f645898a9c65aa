"""Gates that come from elsewhere: what they multiply, and that a watch sees it."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from penstock import PenstockError, Soft, capture, compiled
from penstock.gates import masking
from penstock.gates.choice import Choice
from penstock.gates.factor import Factor
from penstock.gates.given import Bits, Given, given_from, multiplied
from penstock.gates.kinds import Clipped, Kind, Magnitude, Rectifier, Smooth
from penstock.gates.packed import pack
from penstock.gates.softening import Leaking
from penstock.gates.watch import Watch

Q = torch.randn(3, 4, 6, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
SIGNAL = torch.randn(3, 4, 6, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
SLOPES = torch.linspace(0.1, 0.4, 4, dtype=torch.float64)

KINDS: dict[str, Kind] = {
    "ReLU": Rectifier(),
    "LeakyReLU": Rectifier(0.1),
    "PReLU": Rectifier(SLOPES),
    "clipped": Clipped(-0.5, 0.5),
    "absolute value": Magnitude(),
    "SiLU": Smooth.silu(),
    "soft": Smooth(Soft()),
    "leaking": Leaking(Soft(), Rectifier(0.1)),
    "max-pooling": Choice.of(2, 2),
}


@pytest.fixture(
    params=[
        pytest.param(True, marks=pytest.mark.skipif(not compiled.available(), reason="needs Numba")),
        False,
    ]
)
def packed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether small signals go the fast way too."""
    if request.param:
        monkeypatch.setattr(masking, "WORTH_COMPILING", 0)
    return request.param


@pytest.mark.parametrize("name", KINDS)
def test_given_gates_do_not_look_at_the_signal_they_multiply(name: str, packed: bool):
    kind = KINDS[name]
    given = given_from(kind, Q)
    torch.testing.assert_close(
        multiplied(SIGNAL, given), kind.apply(SIGNAL, kind.read(Q)), rtol=1e-12, atol=0
    )
    assert given.shape == (len(Q), *kind.gate_shape(tuple(Q.shape)))
    assert (given.hard, given.shut) == (kind.hard, kind.shut)
    assert torch.equal(given.read(SIGNAL), kind.read(Q))
    assert str(given) == f"{kind}, given"


@pytest.mark.parametrize("name", ["ReLU", "LeakyReLU"])
def test_a_relus_gates_stay_packed_where_that_is_faster(name: str, packed: bool):
    given = given_from(KINDS[name], Q)
    assert isinstance(given.gates, Bits) is packed
    assert torch.equal(given.pattern, Q > 0)
    assert torch.equal(given.pack(SIGNAL)[0], pack((Q > 0).reshape(3, -1)))


@pytest.mark.parametrize("memory", [torch.contiguous_format, torch.channels_last])
def test_packed_gates_take_a_signal_that_lies_in_memory_in_any_way(memory: torch.memory_format, packed: bool):
    given = given_from(Rectifier(), Q)
    signal = SIGNAL.to(memory_format=memory)
    assert torch.equal(multiplied(signal, given), torch.where(Q > 0, SIGNAL, 0))


def test_whether_a_derivative_goes_through_is_told(packed: bool):
    learning = Q.clone().requires_grad_()
    assert given_from(Smooth(Soft()), learning).is_learnt
    assert not given_from(Smooth(Soft()), Q).is_learnt
    assert not given_from(Rectifier(), learning).is_learnt


class Multiplied(nn.Module):
    def __init__(self, given: Given):
        super().__init__()
        self.layer, self.given = nn.Linear(6, 6), given

    def forward(self, x: Tensor) -> Tensor:
        return multiplied(self.layer(x), self.given)


def test_a_watch_sees_the_product_as_a_call():
    seen: list[tuple[str, Kind]] = []

    class Look(Watch):
        def on_call(self, name: str, kind: Kind, q: Tensor) -> Tensor:
            seen.append((name, kind))
            return torch.full_like(q, 7)

    given = Given(Rectifier(), Q[:, 0, 0] > 0)
    model = Multiplied(given)
    with Look(model):
        assert model(torch.zeros(3, 6)).eq(7).all()
    assert seen == [("multiplied", given)]
    named = Given(Rectifier(), Q[:, 0, 0] > 0, "relu")
    with Look(model := Multiplied(named)):
        model(torch.zeros(3, 6))
    assert seen[-1][0] == "relu"


class Lent(nn.Module):
    """One layer's gates for another layer's signal."""

    def __init__(self):
        super().__init__()
        self.gates, self.layer = nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, x: Tensor) -> Tensor:
        return multiplied(self.layer(x), Given(Rectifier(0.2), self.gates(x) > 0))


def test_a_record_holds_the_gates_and_proves_them():
    model, x = Lent(), torch.randn(3, 6)
    record = capture(model, x)
    assert torch.equal(record["multiplied"].to_dense(), model.gates(x) > 0)
    assert record["multiplied"].kind == Given(Rectifier(0.2))
    record.verify(model, x)


def test_under_torchs_transformations_given_gates_are_held():
    given = Given(Rectifier(), Q[0] > 0)
    gradient = torch.func.grad(lambda signal: multiplied(signal, given).sum())(SIGNAL[0])
    assert torch.equal(gradient, (Q[0] > 0).double())


def test_numbers_of_any_making_are_a_kind_that_nothing_is_read_by():
    factor = Factor()
    pattern = torch.rand(3, 4, 6, 6, dtype=torch.float64)
    assert torch.equal(factor.apply(SIGNAL, pattern), SIGNAL * pattern)
    assert torch.equal(factor.value(pattern), pattern)
    assert not factor.hard
    with pytest.raises(PenstockError, match="gates from outside are not read from a signal; give them with"):
        factor.read(SIGNAL)


@pytest.mark.parametrize("change", [lambda q: q, lambda q: q.clone().requires_grad_()])
def test_max_pooling_finds_the_places_that_are_given(change: Any):
    given = given_from(Choice.of(2, 2), change(Q))
    places = F.max_pool2d(Q, 2, return_indices=True)[1]
    wanted = SIGNAL.flatten(2).gather(2, places.flatten(2)).reshape(places.shape)
    assert torch.equal(multiplied(SIGNAL, given), wanted)
