"""What a function's gates become under another gate, against formulas written out by hand (D Table 2)."""

import pytest
import torch
from torch import Tensor, nn

from penstock import GateRecord, Hard, Soft, capture, decouple
from penstock.gates.choice import Choice
from penstock.gates.kinds import Clipped, Kind, Magnitude, Rectifier, Smooth
from penstock.gates.softening import Leaking, SoftClipped, softened

Q = torch.linspace(-9, 9, 91, dtype=torch.float64).reshape(7, 13)
SLOPES = torch.linspace(0.1, 0.4, 13, dtype=torch.float64)
SOFT = Soft(beta=2.0, epsilon=0.1)
OWN: list[Kind] = [Magnitude(), Smooth.silu(), Smooth.gelu(), Choice.of(2, 2)]
HARD: list[Kind] = [Rectifier(), Rectifier(0.1), Rectifier(SLOPES), Clipped(), Clipped(-1, 1)]


def g(q: Tensor) -> Tensor:
    return 1.1 / (1 + torch.exp(-2.0 * q))


FORMULAS: dict[str, tuple[Kind, Tensor]] = {
    "ReLU": (Rectifier(), Q * g(Q)),
    "LeakyReLU": (Rectifier(0.3), Q * (0.3 + 0.7 * g(Q))),
    "LeakyReLU that grows": (Rectifier(1.5), Q * (1.5 - 0.5 * g(Q))),
    "PReLU": (Rectifier(SLOPES), Q * (SLOPES + (1 - SLOPES) * g(Q))),
    "ReLU6": (Clipped(), Q * (g(Q) - g(Q - 6)) + 6 * g(Q - 6)),
    "hardtanh": (
        Clipped(-1, 1),
        Q * (g(Q + 1) - g(Q - 1)) - (1 - g(Q + 1)) + g(Q - 1),
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_soft_gate_makes_of_each_function_what_the_formula_says(name: str):
    own, wanted = FORMULAS[name]
    kind = softened(own, SOFT)
    torch.testing.assert_close(kind.apply(Q, kind.read(Q)), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", FORMULAS)
def test_with_its_pattern_held_it_is_affine(name: str):
    kind = softened(FORMULAS[name][0], SOFT)
    pattern = kind.read(Q)
    u = torch.randn(Q.shape, dtype=Q.dtype, generator=torch.Generator().manual_seed(0))
    far = 1e6 * u
    both = kind.apply(Q + far, pattern) + kind.apply(Q - far, pattern)
    torch.testing.assert_close(both, 2 * kind.apply(Q, pattern), rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", FORMULAS)
def test_the_steeper_the_gate_the_nearer_the_function_itself(name: str):
    own, _ = FORMULAS[name]
    q = Q[Q.abs() != 0].reshape(-1, 1).expand(-1, 13).contiguous()
    # away from the places where it bends
    q = q[(q - 6).abs().gt(0.01).all(1) & (q.abs() - 1).abs().gt(0.01).all(1)]
    function = own.apply(q, own.read(q))
    gaps = []
    for beta in (1e1, 1e2, 1e8):
        kind = softened(own, Soft(beta, 0.0))
        gaps.append((kind.apply(q, kind.read(q)) - function).abs().max().item())
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-9


@pytest.mark.parametrize("name", FORMULAS)
def test_steepness_is_the_derivative_of_the_value(name: str):
    kind = softened(FORMULAS[name][0], SOFT)
    step = 1e-6
    wanted = (kind.value(kind.read(Q + step)) - kind.value(kind.read(Q - step))) / (2 * step)
    torch.testing.assert_close(kind.steepness(Q), wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", FORMULAS)
def test_the_gates_of_an_example_have_the_shape_that_is_told(name: str):
    kind = softened(FORMULAS[name][0], SOFT)
    assert tuple(kind.read(Q).shape[1:]) == kind.gate_shape(tuple(Q.shape))
    assert tuple(kind.value(kind.read(Q)).shape) == tuple(kind.read(Q).shape)


@pytest.mark.parametrize("kind", [*OWN, *HARD], ids=str)
def test_hard_leaves_every_function_its_own_gates(kind: Kind):
    assert softened(kind, Hard()) is kind


@pytest.mark.parametrize("kind", OWN, ids=str)
def test_choices_signs_and_smooth_gates_are_never_another(kind: Kind):
    assert softened(kind, SOFT) is kind


def test_what_each_kind_is_called():
    assert str(softened(Rectifier(0.1), SOFT)) == "LeakyReLU 0.1 with soft β=2 ε=0.1"
    assert str(softened(Rectifier(SLOPES), SOFT)) == "PReLU with soft β=2 ε=0.1"
    assert str(softened(Clipped(), SOFT)) == "ReLU6 with soft β=2 ε=0.1"
    assert softened(Rectifier(), SOFT) == Smooth(SOFT)


def test_a_record_keeps_the_slopes_as_they_were():
    slopes = SLOPES.clone().requires_grad_()
    kept = Leaking(SOFT, Rectifier(slopes)).detached()
    with torch.no_grad():
        slopes.mul_(2)
    assert isinstance(kept.of.slope, Tensor)
    assert torch.equal(kept.of.slope, SLOPES)
    assert not kept.of.slope.requires_grad


@pytest.mark.parametrize(
    "activation", [nn.ReLU(), nn.LeakyReLU(0.1), nn.PReLU(6), nn.ReLU6(), nn.Hardtanh()], ids=str
)
def test_a_record_of_such_gates_is_saved_loaded_and_complete(activation: nn.Module, tmp_path):
    torch.manual_seed(0)
    pair = decouple(nn.Sequential(nn.Linear(4, 6), activation, nn.Linear(6, 2)), SOFT, feature_gate=SOFT)
    x = 3 * torch.randn(5, 4)
    record = capture(pair, x)
    record.save(tmp_path / "gates.safetensors")
    loaded = GateRecord.load(tmp_path / "gates.safetensors")
    assert loaded == record
    assert [layer.kind for layer in loaded.values()] == [layer.kind for layer in record.values()]
    loaded.verify(pair, x)


def test_gradients_reach_the_slopes_and_the_pre_activations():
    q, slopes = Q.clone().requires_grad_(), SLOPES.clone().requires_grad_()

    def output(q: Tensor, slopes: Tensor) -> Tensor:
        kind = softened(Rectifier(slopes), SOFT)
        return kind.apply(q, kind.read(q))

    assert torch.autograd.gradcheck(output, (q, slopes))

    def clipped(q: Tensor) -> Tensor:
        kind = SoftClipped(SOFT, Clipped())
        return kind.apply(q, kind.read(q))

    assert torch.autograd.gradcheck(clipped, (q,))
