"""A signal under packed gates: the compiled way against the plain one, and its derivative."""

import pytest
import torch
from torch import Tensor

from penstock import compiled
from penstock.gates import masking as packed_masks
from penstock.gates.given import Bits, Given
from penstock.gates.kinds import Rectifier
from penstock.gates.masking import compiled_takes, masked
from penstock.gates.packed import pack

pytestmark = pytest.mark.skipif(not compiled.available(), reason="needs Numba")

SHAPES = [(1, 1), (3, 63), (3, 64), (3, 65), (5, 2, 8, 8), (7, 130), (2, 3, 5, 7), (300, 200)]


@pytest.fixture(autouse=True)
def small_signals_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(packed_masks, "WORTH_COMPILING", 0)


def case(shape: tuple[int, ...], dtype: torch.dtype) -> tuple[Tensor, Tensor, Given]:
    generator = torch.Generator().manual_seed(sum(shape))
    q = torch.randn(shape, dtype=dtype, generator=generator)
    bits = torch.rand(shape, generator=generator) < 0.5
    return q, bits, Given(Rectifier(), Bits(pack(bits.reshape(len(bits), -1)), tuple(shape[1:])))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("slope", [0.0, 0.1, -1.0])
def test_it_is_the_plain_product_with_its_derivative(
    shape: tuple[int, ...], dtype: torch.dtype, slope: float
):
    q, bits, given = case(shape, dtype)
    given = Given(Rectifier(slope), given.gates)
    gradient = torch.randn_like(q)
    results = []
    for function in (lambda q: given.times(q), lambda q: Rectifier(slope).apply(q, bits)):
        leaf = q.clone().requires_grad_()
        out = function(leaf)
        out.backward(gradient)
        results.append((out.detach(), leaf.grad))
    assert compiled_takes(q)
    assert torch.equal(results[0][0], results[1][0])
    torch.testing.assert_close(results[0][1], results[1][1], rtol=0, atol=0)


def test_a_shut_gate_lets_nothing_through_whatever_it_is():
    q, _, given = case((3, 130), torch.float32)
    gates = given.pattern
    for value in (torch.nan, torch.inf, -torch.inf):
        broken = torch.where(gates, q, value).requires_grad_()
        out = given.times(broken)
        assert torch.equal(out, torch.where(gates, q, 0))
        out.backward(torch.where(gates, 1.0, value))
        assert broken.grad is not None
        assert torch.equal(broken.grad, gates.float())


def test_what_an_open_gate_is_given_goes_through():
    q, _, given = case((3, 130), torch.float32)
    broken = torch.full_like(q, torch.nan)
    assert torch.equal(given.times(broken).isnan(), given.pattern)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_any_number_of_threads_gives_the_same(threads: int):
    q, bits, given = case((40, 3, 100, 100), torch.float32)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        assert torch.equal(given.times(q), torch.where(bits, q, 0))
    finally:
        torch.set_num_threads(before)


def test_gradients_may_lie_in_memory_in_any_way():
    q, bits, given = case((4, 3, 6, 6), torch.float64)
    for gradient in (
        torch.randn(4, 3, 6, 6, dtype=torch.float64).to(memory_format=torch.channels_last),
        torch.randn(6, 6, 3, 4, dtype=torch.float64).permute(3, 2, 1, 0),
        torch.ones((), dtype=torch.float64).expand(4, 3, 6, 6),
    ):
        leaf = q.clone().requires_grad_()
        given.times(leaf).backward(gradient)
        assert leaf.grad is not None
        assert torch.equal(leaf.grad, torch.where(bits, gradient, 0))


@pytest.mark.parametrize(
    "change",
    [
        lambda q: q.to(memory_format=torch.channels_last),
        lambda q: q.transpose(2, 3).contiguous().transpose(2, 3),
        lambda q: q.half(),
        lambda q: q.bfloat16(),
    ],
)
def test_a_signal_that_compiled_code_does_not_take_goes_the_plain_way(change):
    q, bits, given = case((4, 3, 6, 6), torch.float32)
    signal = change(q)
    assert not compiled_takes(signal)
    assert torch.equal(given.times(signal), torch.where(bits, signal, 0))


def test_without_numba_the_result_is_the_same(monkeypatch: pytest.MonkeyPatch):
    q, bits, given = case((7, 130), torch.float32)
    monkeypatch.setattr(compiled, "available", lambda: False)
    assert not compiled_takes(q)
    assert torch.equal(given.times(q), torch.where(bits, q, 0))


def test_it_has_derivatives_of_every_order():
    q, _, given = case((2, 70), torch.float64)
    assert isinstance(given.gates, Bits)
    words = given.gates.words
    leaf = q.requires_grad_()
    assert torch.autograd.gradcheck(lambda q: masked(q, words, 0.2), (leaf,), fast_mode=True)
    assert torch.autograd.gradgradcheck(lambda q: masked(q, words, 0.2), (leaf,), fast_mode=True)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_under_torchs_transformations_it_goes_the_plain_way():
    q, bits, given = case((3, 70), torch.float32)
    gradient = torch.func.grad(lambda q: given.times(q).sum())(q)
    assert torch.equal(gradient, bits.float())
    several = torch.stack([q, 2 * q])
    assert torch.equal(torch.vmap(given.times)(several), torch.where(bits, several, 0))
    both = torch.func.jvp(given.times, (q,), (torch.ones_like(q),))
    assert torch.equal(both[0], torch.where(bits, q, 0))
    assert torch.equal(both[1], bits.float())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forward_mode_goes_the_plain_way():
    q, bits, given = case((3, 70), torch.float32)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(q, torch.ones_like(q))
        tangent = torch.autograd.forward_ad.unpack_dual(given.times(dual)).tangent
    assert tangent is not None
    assert torch.equal(tangent, bits.float())


def test_small_signals_are_not_worth_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.undo()
    assert not compiled_takes(torch.zeros(100, 100))
    assert compiled_takes(torch.zeros(1024, 1024))
