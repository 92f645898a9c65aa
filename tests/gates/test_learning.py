"""Soft gates that learn, in few passes over memory, against the formula that autograd differentiates."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from decoupled.cases import PooledSkips, redraw
from penstock import Hard, Soft, compiled, decouple
from penstock.gates import masking
from penstock.gates.given import given_from
from penstock.gates.kinds import Smooth
from penstock.gates.learning import Learnt, learns, learnt, learnt_beside_relu

needs_numba = pytest.mark.skipif(not compiled.available(), reason="needs Numba")

SHAPES = [(1, 1), (3, 64), (2, 3, 5, 7), (300, 700)]
GATE = Soft(beta=3.0, epsilon=0.2)


@pytest.fixture
def small_signals_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(masking, "WORTH_COMPILING", 0)


def plain(q: Tensor) -> Tensor:
    return 1.2 * torch.sigmoid(3.0 * q)


def case(shape: tuple[int, ...], dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(sum(shape))
    return tuple(torch.randn(shape, dtype=dtype, generator=generator) for _ in range(3))  # pyright: ignore


def gradients(function: Callable[[Tensor, Tensor], Tensor], q: Tensor, signal: Tensor, weight: Tensor):
    q, signal = q.clone().requires_grad_(), signal.clone().requires_grad_()
    out = function(q, signal)
    out.backward(weight)
    return out.detach(), q.grad, signal.grad


def by_times(q: Tensor, signal: Tensor) -> Tensor:
    return learnt(GATE, q).times(signal)


def by_pattern(q: Tensor, signal: Tensor) -> Tensor:
    return signal * learnt(GATE, q).pattern


def beside_relu(q: Tensor, signal: Tensor) -> Tensor:
    gates, output = learnt_beside_relu(GATE, q)
    return gates.times(signal) + 0.3 * output


WAYS = {
    "the product": (by_times, lambda q, signal: signal * plain(q)),
    "the pattern": (by_pattern, lambda q, signal: signal * plain(q)),
    "beside a ReLU": (beside_relu, lambda q, signal: signal * plain(q) + 0.3 * q.relu()),
}


@needs_numba
@pytest.mark.usefixtures("small_signals_too")
class TestTheFastWay:
    @pytest.mark.parametrize("way", WAYS)
    @pytest.mark.parametrize("shape", SHAPES, ids=str)
    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_it_is_the_formula_with_its_derivatives(
        self, way: str, shape: tuple[int, ...], dtype: torch.dtype
    ):
        q, signal, weight = case(shape, dtype)
        assert learns(q.clone().requires_grad_())
        for ours, its in zip(*(gradients(each, q, signal, weight) for each in WAYS[way]), strict=True):
            torch.testing.assert_close(ours, its)

    @pytest.mark.parametrize("way", WAYS)
    def test_it_has_derivatives_of_the_second_order(self, way: str):
        q, signal, _ = case((2, 3), torch.float64)
        ours = WAYS[way][0]
        leaves = (q.requires_grad_(), signal.requires_grad_())
        assert torch.autograd.gradcheck(ours, leaves)
        assert torch.autograd.gradgradcheck(ours, leaves)

    @pytest.mark.parametrize("way", WAYS)
    def test_gradients_and_signals_may_lie_in_memory_in_any_way(self, way: str):
        q, signal, weight = case((4, 3, 6, 6), torch.float64)
        channels_last = torch.channels_last
        for change in (
            lambda each: each.to(memory_format=channels_last),
            lambda each: each.transpose(2, 3).contiguous().transpose(2, 3),
        ):
            for arguments in ((q, signal, change(weight)), (q, change(signal), weight)):
                for ours, its in zip(*(gradients(each, *arguments) for each in WAYS[way]), strict=True):
                    torch.testing.assert_close(ours, its)
        spread = torch.ones((), dtype=torch.float64).expand(4, 3, 6, 6)
        for ours, its in zip(*(gradients(each, q, signal, spread) for each in WAYS[way]), strict=True):
            torch.testing.assert_close(ours, its)

    def test_a_signal_that_needs_no_gradient_gets_none(self):
        q, signal, _ = case((3, 64), torch.float64)
        leaf = q.clone().requires_grad_()
        by_times(leaf, signal).sum().backward()
        wanted = torch.autograd.grad((signal * plain(other := q.clone().requires_grad_())).sum(), other)[0]
        torch.testing.assert_close(leaf.grad, wanted)

    def test_the_pre_activation_may_be_overwritten(self):
        """An in-place ReLU comes right after."""
        q, signal, weight = case((3, 64), torch.float64)

        def overwriting(q: Tensor, signal: Tensor) -> Tensor:
            q = q * 1
            gates = learnt(GATE, q)
            return gates.times(signal) + 0.3 * q.relu_()

        wanted = WAYS["beside a ReLU"][1]
        for ours, its in zip(
            gradients(overwriting, q, signal, weight), gradients(wanted, q, signal, weight), strict=True
        ):
            torch.testing.assert_close(ours, its)

    def test_where_the_gate_saturates_its_derivative_is_zero_and_no_nan(self):
        q = torch.tensor([[-1e30, -200.0, 200.0, 1e30]], requires_grad=True)
        by_times(q, torch.ones(1, 4)).sum().backward()
        assert torch.equal(q.grad, torch.zeros(1, 4))  # pyright: ignore[reportArgumentType]

    def test_only_the_relu_or_only_the_gate_may_be_used(self):
        q, _, weight = case((3, 64), torch.float64)
        leaf = q.clone().requires_grad_()
        learnt_beside_relu(GATE, leaf)[1].backward(weight)
        torch.testing.assert_close(leaf.grad, weight * (q > 0))
        leaf = q.clone().requires_grad_()
        learnt_beside_relu(GATE, leaf)[0].times(torch.ones_like(q)).backward(weight)
        torch.testing.assert_close(leaf.grad, weight * GATE.slope(q))

    @pytest.mark.parametrize("own", [Hard(), GATE], ids=str)
    @pytest.mark.parametrize("inplace", [True, False])
    @pytest.mark.parametrize("memory", [torch.contiguous_format, torch.channels_last])
    def test_whole_networks_have_the_same_gradients_both_ways(
        self, own: Hard | Soft, inplace: bool, memory: torch.memory_format, monkeypatch: pytest.MonkeyPatch
    ):
        torch.manual_seed(0)
        model = PooledSkips().double()
        model.relu.inplace = inplace
        pair = decouple(model, GATE, feature_gate=own)
        redraw(pair.value, 1)
        x = torch.randn(3, 1, 4, 4, dtype=torch.float64).to(memory_format=memory)
        results = []
        for worth in (0, 1 << 60):
            monkeypatch.setattr(masking, "WORTH_COMPILING", worth)
            pair.zero_grad()
            out = pair(x)
            out.square().sum().backward()
            results.append([out.detach(), *(each.grad for each in pair.parameters())])
        torch.testing.assert_close(results[0], results[1])

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    @pytest.mark.parametrize(
        "transform", [torch.func.grad, torch.func.jacrev, torch.func.jacfwd, torch.func.hessian]
    )
    def test_under_torchs_transformations_it_goes_the_plain_way(self, transform: Callable):
        pair = decouple(nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1)).double(), GATE)
        x = torch.randn(4, dtype=torch.float64)
        pair(x[None])

        def ours(x: Tensor) -> Tensor:
            return pair(x[None]).sum()

        def its(x: Tensor) -> Tensor:
            q, signal = (part[0](x[None]) for part in (pair.feature, pair.value))  # pyright: ignore
            return pair.value[2](signal * plain(q)).sum()  # pyright: ignore

        torch.testing.assert_close(transform(ours)(x), transform(its)(x))


@needs_numba
@pytest.mark.usefixtures("small_signals_too")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forward_mode_goes_the_plain_way():
    q, signal, direction = case((3, 64), torch.float64)

    def ours(q: Tensor) -> Tensor:
        return given_from(Smooth(GATE), q).times(signal)

    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(q.requires_grad_(), direction)
        tangent = torch.autograd.forward_ad.unpack_dual(ours(dual)).tangent
    torch.testing.assert_close(tangent, signal * GATE.slope(q) * direction)


def test_the_fast_way_is_for_what_learns_and_is_large():
    large = torch.zeros(1024, 1024, requires_grad=True)
    assert learns(large) == compiled.available()
    assert not learns(large.detach())
    assert not learns(torch.zeros(10, 10, requires_grad=True))
    with torch.no_grad():
        assert not learns(large)


@pytest.mark.parametrize("numba", [True, False])
def test_large_signals_with_and_without_numba(numba: bool, monkeypatch: pytest.MonkeyPatch):
    if not numba:
        monkeypatch.setattr(compiled, "available", lambda: False)
    elif not compiled.available():
        pytest.skip("needs Numba")
    q, signal, weight = case((1030, 1030), torch.float32)

    def ours(q: Tensor, signal: Tensor) -> Tensor:
        given = given_from(Smooth(GATE), q)
        assert isinstance(given.gates, Learnt) is numba
        return given.times(signal)

    for one, other in zip(
        gradients(ours, q, signal, weight), gradients(WAYS["the product"][1], q, signal, weight), strict=True
    ):
        torch.testing.assert_close(one, other)
