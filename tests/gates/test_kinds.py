from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from penstock import PenstockError, Soft
from penstock.gates.kinds import Above, Choice, Clipped, Kind, Magnitude, Rectifier, Smooth
from penstock.gates.layer import GateLayer

FLOATS = st.sampled_from([torch.float16, torch.bfloat16, torch.float32, torch.float64])
CHANNELS = 3
SLOPES = torch.tensor([0.25, -0.5, 1.5], dtype=torch.float64)

HARD: dict[str, tuple[Kind, Callable[[Tensor], Tensor]]] = {
    "relu": (Rectifier(), F.relu),
    "clamp": (Rectifier(), lambda q: q.clamp(min=0)),
    "leaky_relu": (Rectifier(0.01), F.leaky_relu),
    "leaky_relu with a negative slope": (Rectifier(-0.3), lambda q: F.leaky_relu(q, -0.3)),
    "prelu": (Rectifier(SLOPES), lambda q: F.prelu(q, SLOPES.to(q.dtype))),
    "prelu with one slope": (Rectifier(SLOPES[:1]), lambda q: F.prelu(q, SLOPES[:1].to(q.dtype))),
    "relu6": (Clipped(), F.relu6),
    "hardtanh": (Clipped(-1, 1), F.hardtanh),
    "hardtanh that is never 0": (Clipped(2.0, 3.0), lambda q: F.hardtanh(q, 2.0, 3.0)),
    "hardtanh whose ends are no binary fractions": (Clipped(-0.1, 0.3), lambda q: F.hardtanh(q, -0.1, 0.3)),
    "abs": (Magnitude(), torch.abs),
}
SMOOTH: dict[str, tuple[Kind, Callable[[Tensor], Tensor]]] = {
    "silu": (Smooth.silu(), F.silu),
    "gelu": (Smooth.gelu(), F.gelu),
    "gelu by tanh": (Smooth.gelu("tanh"), lambda q: F.gelu(q, approximate="tanh")),
    "soft": (Smooth(Soft(2.0, 0.5)), lambda q: 1.5 * q * torch.sigmoid(2 * q)),
}
ALL = HARD | SMOOTH

shapes = st.lists(st.integers(1, 5), min_size=0, max_size=3).map(
    lambda rest: (len(rest) + 1, CHANNELS, *rest)
)
seeds = st.integers(0, 2**31)


def normal(shape: tuple[int, ...], seed: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Pre-activations of all sizes; one in four lies on a kink."""
    generator = torch.Generator().manual_seed(seed)
    q = 4 * torch.randn(shape, generator=generator, dtype=torch.float64)
    kinks = torch.tensor([-1.0, -0.0, 0.0, 1.0, 2.0, 3.0, 6.0], dtype=torch.float64)
    on_a_kink = kinks[torch.randint(len(kinks), shape, generator=generator)]
    return torch.where(torch.rand(shape, generator=generator) < 0.25, on_a_kink, q).to(dtype)


def in_dtype(kind: Kind, dtype: torch.dtype) -> Kind:
    if isinstance(kind, Rectifier) and isinstance(kind.slope, Tensor):
        return Rectifier(kind.slope.to(dtype))
    return kind


@pytest.mark.parametrize("name", HARD)
@given(shape=shapes, seed=seeds, dtype=FLOATS)
def test_a_hard_kind_with_the_pattern_just_read_is_torchs_function_bit_for_bit(name, shape, seed, dtype):
    kind, function = HARD[name]
    kind, q = in_dtype(kind, dtype), normal(shape, seed, dtype)
    assert torch.equal(kind.apply(q, kind.read(q)), function(q))


@pytest.mark.parametrize("name", SMOOTH)
@given(shape=shapes, seed=seeds, dtype=FLOATS)
def test_a_smooth_kind_with_the_pattern_just_read_is_torchs_function_to_rounding(name, shape, seed, dtype):
    kind, function = SMOOTH[name]
    q = normal(shape, seed, dtype)
    # the gate and the product are rounded, and erf and tanh leave an error beside a gate that is nearly shut
    torch.testing.assert_close(
        kind.apply(q, kind.read(q)),
        function(q),
        rtol=4 * torch.finfo(dtype).eps,
        atol=20 * torch.finfo(dtype).eps,
    )


@pytest.mark.parametrize("name", ALL)
@given(shape=shapes, seed=seeds)
def test_with_its_gates_held_every_kind_is_affine(name, shape, seed):
    kind, _ = ALL[name]
    q, u = normal(shape, seed), 1e3 * normal(shape, seed + 1)
    pattern = kind.read(q)
    middle = kind.apply(q + u, pattern) + kind.apply(q - u, pattern)
    torch.testing.assert_close(middle, 2 * kind.apply(q, pattern), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", HARD)
@given(shape=shapes, seed=seeds)
def test_a_hard_gates_value_is_the_derivative_wherever_there_is_one(name, shape, seed):
    kind, function = HARD[name]
    q = normal(shape, seed)
    # off the kinks, where torch takes one side or the other
    q = torch.where(q == q.round(), q + 0.5, q).requires_grad_()
    (derivative,) = torch.autograd.grad(function(q).sum(), q)
    assert torch.equal(kind.value(kind.read(q)), derivative.float())


@pytest.mark.parametrize("name", [name for name in HARD if name != "clamp"])
def test_at_a_kink_the_gate_is_shut_as_torchs_derivative_has_it(name):
    kind, function = HARD[name]
    kinks = [kind.low, kind.high] if isinstance(kind, Clipped) else [0.0]
    q = torch.tensor(kinks, dtype=torch.float64).expand(1, CHANNELS, -1).clone().requires_grad_()
    (derivative,) = torch.autograd.grad(function(q).sum(), q)
    assert not kind.planes(kind.read(q))[0].any()
    if not isinstance(kind, Magnitude):  # whose derivative at 0 is 0, with no gate of that value
        assert torch.equal(kind.value(kind.read(q)), derivative.float())


@pytest.mark.parametrize("name", ALL)
@given(shape=shapes, seed=seeds, dtype=FLOATS)
def test_the_pattern_survives_being_packed(name, shape, seed, dtype):
    kind, _ = ALL[name]
    q = normal(shape, seed, dtype)
    layer = GateLayer.of("layer", kind, q)
    assert layer.shape == shape[1:]
    assert torch.equal(layer.pattern(), kind.read(q))
    assert torch.equal(layer.apply(q), kind.apply(q, kind.read(q)))
    assert layer == GateLayer.from_pattern("layer", kind, kind.read(q))


@pytest.mark.parametrize("name", ALL)
def test_a_batch_may_lie_in_memory_in_any_way(name):
    kind, function = ALL[name]
    q = normal((4, CHANNELS, 6, 5), seed=3)
    for lying in (
        q.to(memory_format=torch.channels_last),
        q.transpose(2, 3).contiguous().transpose(2, 3),
        q[::2],
    ):
        there, here = GateLayer.of("layer", kind, lying), GateLayer.of("layer", kind, lying.contiguous())
        assert there == here or not kind.hard
        # torch rounds the same sigmoid in two ways, by where it lies
        torch.testing.assert_close(there.to_dense(), here.to_dense())
        torch.testing.assert_close(kind.apply(lying, kind.read(lying)), function(lying))


def test_relu6_has_a_third_state_that_adds_a_held_6():
    q = torch.tensor([[-1.0, 3.0, 7.0]])
    layer = GateLayer.of("relu6", Clipped(), q)
    assert layer.pattern().tolist() == [[Clipped.SHUT, Clipped.OPEN, Clipped.HELD]]
    assert layer.to_dense().tolist() == [[False, True, False]]
    assert layer.apply(q + 100).tolist() == [[0, 103, 6]]


def test_a_record_keeps_the_slope_that_prelu_had():
    module = torch.nn.PReLU(2, init=0.25)
    layer = GateLayer.of("prelu", Rectifier(module.weight), torch.tensor([[-1.0, 1.0]]))
    torch.nn.init.constant_(module.weight, 0.75)
    assert layer.apply(torch.tensor([[-1.0, 1.0]])).tolist() == [[-0.25, 1.0]]
    assert not layer.kind.slope.requires_grad  # pyright: ignore[reportAttributeAccessIssue]


def test_held_gates_let_gradients_through_to_q_and_to_prelus_slope():
    slope = torch.tensor([0.5], requires_grad=True)
    q = torch.tensor([[-2.0, 3.0]], requires_grad=True)
    kind = Rectifier(slope)
    kind.apply(q, torch.tensor([[False, False]])).sum().backward()
    assert q.grad is not None
    assert q.grad.tolist() == [[0.5, 0.5]]
    assert slope.grad is not None
    assert slope.grad.tolist() == [1.0]


@pytest.mark.parametrize(("kind", "threshold", "kept"), [
    (Rectifier(), 0.0, True),
    (Rectifier(), 0.99, True),
    (Rectifier(), 1.0, False),
    (Rectifier(0.2), 0.3, True),
    (Rectifier(0.2), 0.1, False),
    (Magnitude(), 0.0, True),
    (Clipped(), 0.5, True),
    (Smooth.silu(), 0.5, False),
    (Choice.of(2, 2), 7.0, True),
])  # fmt: skip
def test_a_threshold_leaves_bits_alone_where_it_separates_open_from_shut(kind, threshold, kept):
    assert kind.above(threshold) == (kind if kept else Above(kind, threshold))


@pytest.mark.parametrize("name", ALL)
@given(shape=shapes, seed=seeds, threshold=st.floats(0, 1.6))
def test_the_active_gates_are_those_whose_value_is_above_the_threshold(name, shape, seed, threshold):
    kind, _ = ALL[name]
    q = normal(shape, seed)
    active = GateLayer.of("layer", kind, q).active(threshold)
    assert torch.equal(active.to_dense(), kind.value(kind.read(q)) > threshold)
    assert active == GateLayer.of("layer", active.kind, q)


def test_silus_and_gelus_gates_are_above_a_half_where_q_is_above_zero():
    q = normal((50, CHANNELS), seed=1)
    for kind in (Smooth.silu(), Smooth.gelu(), Smooth.gelu("tanh")):
        assert torch.equal(GateLayer.of("layer", kind, q).active(0.5).to_dense(), q > 0)


def test_kinds_are_values():
    assert Rectifier(torch.tensor([0.5])) == Rectifier(torch.tensor([0.5])) == Rectifier(0.5)
    assert Rectifier(torch.tensor([0.5, 0.5])) != Rectifier(0.5)
    assert Rectifier() != Clipped()
    assert len({Rectifier(), Rectifier(0.0), Clipped(), Clipped(0, 6), Smooth.silu(), Smooth.silu()}) == 3


@pytest.mark.parametrize(
    "make", [lambda: Clipped(3, 2), lambda: Clipped(0, float("nan")), lambda: Above(Rectifier(), -1)]
)
def test_a_kind_that_cannot_be_is_refused_in_one_sentence(make):
    with pytest.raises(PenstockError, match=r"^[^.]*(\.\d[^.]*)*$"):
        make()
