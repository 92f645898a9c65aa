import pytest
import torch
import torch.nn.functional as F
from hypothesis import assume, given
from hypothesis import strategies as st
from torch import Tensor

from oracle import gates as oracle
from penstock.gates.choice import AdaptiveChoice, Choice
from penstock.gates.layer import GateLayer

POOL = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
ADAPTIVE_POOL = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}


@st.composite
def poolings(draw):
    """A pooling of 1, 2 or 3 dimensions and an input that it takes; values repeat, so that there are ties."""
    dims = draw(st.integers(1, 3))
    each = lambda low, high: tuple(draw(st.integers(low, high)) for _ in range(dims))  # noqa: E731
    kernel, stride, dilation = each(1, 3), each(1, 3), each(1, 2)
    padding = tuple(draw(st.integers(0, k // 2)) for k in kernel)
    size = each(3, 8)
    assume(
        all(s + 2 * p >= d * (k - 1) + 1 for s, p, d, k in zip(size, padding, dilation, kernel, strict=True))
    )
    arguments = (kernel, stride, padding, dilation, draw(st.booleans()))
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    return dims, arguments, ties((2, draw(st.integers(1, 3)), *size), draw(st.integers(0, 2**31)), dtype)


@st.composite
def adaptive_poolings(draw):
    dims = draw(st.integers(1, 3))
    size = tuple(draw(st.integers(1, 9)) for _ in range(dims))
    out = tuple(draw(st.one_of(st.none(), st.integers(1, 9))) for _ in range(dims))
    return dims, out, ties((2, draw(st.integers(1, 3)), *size), draw(st.integers(0, 2**31)), torch.float64)


def ties(shape: tuple[int, ...], seed: int, dtype: torch.dtype) -> Tensor:
    return torch.randint(-2, 3, shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def held_is_affine(kind, q: Tensor, pattern: Tensor) -> bool:
    u = 1e3 * torch.randn_like(q)
    middle = kind.apply(q + u, pattern) + kind.apply(q - u, pattern)
    return torch.allclose(middle, 2 * kind.apply(q, pattern), rtol=0, atol=1e-3)


@given(poolings())
def test_a_choice_held_is_torchs_pooling_and_routes_its_gradient(case):
    dims, (kernel, stride, padding, dilation, ceil_mode), q = case
    kind = Choice.of(dims, kernel, stride, padding, dilation, ceil_mode)
    q.requires_grad_()
    pattern = kind.read(q)
    pooled = POOL[dims](q, kernel, stride, padding, dilation, ceil_mode)
    held = kind.apply(q, pattern)
    assert torch.equal(held, pooled)
    assert kind.gate_shape(tuple(q.shape)) == pattern.shape[1:]
    # the gradient goes to the entry that torch chose: among equals too it must be the same one
    weight = torch.randn_like(pooled)
    (ours,) = torch.autograd.grad(held, q, weight)
    (theirs,) = torch.autograd.grad(pooled, q, weight)
    torch.testing.assert_close(ours, theirs)
    assert held_is_affine(kind, q.detach(), pattern)


@given(adaptive_poolings())
def test_an_adaptive_choice_held_is_torchs_pooling_and_routes_its_gradient(case):
    dims, out, q = case
    kind = AdaptiveChoice.of(dims, out)
    q.requires_grad_()
    pattern = kind.read(q)
    sizes = [size if o is None else o for o, size in zip(out, q.shape[-dims:], strict=True)]
    pooled = ADAPTIVE_POOL[dims](q, sizes)
    held = kind.apply(q, pattern)
    assert torch.equal(held, pooled)
    assert kind.gate_shape(tuple(q.shape)) == pattern.shape[1:]
    weight = torch.randn_like(pooled)
    (ours,) = torch.autograd.grad(held, q, weight)
    (theirs,) = torch.autograd.grad(pooled, q, weight)
    torch.testing.assert_close(ours, theirs)
    assert held_is_affine(kind, q.detach(), pattern)
    for output, value in oracle.adaptively_pooled(q[0, 0].detach(), sizes).items():
        assert float(held.detach()[(0, 0, *output)]) == value


@given(poolings())
def test_one_slot_of_every_window_is_open(case):
    dims, arguments, q = case
    kind = Choice.of(dims, *arguments)
    assert (kind.read(q).sum(-1) == 1).all()


@given(poolings())
def test_the_open_slot_is_where_the_first_of_the_largest_lies(case):
    dims, (kernel, stride, padding, dilation, _), q = case
    pattern = Choice.of(dims, kernel, stride, padding, dilation).read(q)
    for output, (slot, _, _) in oracle.pooled(q[0, 0], kernel, stride, padding, dilation).items():
        assert int(pattern[(0, 0, *output)].to(torch.uint8).argmax()) == slot


@given(poolings())
def test_a_choice_survives_being_packed(case):
    dims, arguments, q = case
    kind = Choice.of(dims, *arguments)
    layer = GateLayer.of("pool", kind, q)
    assert torch.equal(layer.pattern(), kind.read(q))
    assert torch.equal(layer.apply(q), POOL[dims](q, *arguments))


def test_arguments_are_taken_as_torch_takes_them():
    q = torch.randn(2, 3, 8, 8)
    assert Choice.of(2, 2) == Choice.of(2, (2, 2), (2, 2)) == Choice.of(2, 2, None) == Choice.of(2, 2, ())
    assert Choice.of(2, (2,), 1, (0,), [1, 1]) == Choice.of(2, 2, 1)
    assert AdaptiveChoice.of(2, 4) == AdaptiveChoice.of(2, (4, 4))
    assert torch.equal(Choice.of(2, 2).apply(q, Choice.of(2, 2).read(q)), F.max_pool2d(q, 2))


def test_a_batch_of_images_without_channels_is_pooled_example_by_example():
    q = torch.randn(5, 6, 6)
    kind = Choice.of(2, 2)
    assert kind.read(q).shape == (5, 3, 3, 4)
    assert torch.equal(kind.apply(q, kind.read(q)), F.max_pool2d(q, 2))


@pytest.mark.parametrize("ceil_mode", [False, True])
def test_the_shape_of_its_gates_is_reckoned_as_torch_reckons_it(ceil_mode: bool):
    cases = ((k, s, p, d) for k in (2, 3) for s in (1, 2, 3) for p in (0, 1) for d in (1, 2))
    for kernel, stride, padding, dilation in cases:
        kind = Choice.of(2, kernel, stride, padding, dilation, ceil_mode)
        for size in range(6, 14):
            q = torch.randn(2, 3, size, size + 1)
            assert kind.gate_shape(tuple(q.shape)) == tuple(kind.read(q).shape[1:])
