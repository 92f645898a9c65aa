import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from oracle import gates as oracle
from penstock import compiled
from penstock.gates import packed
from penstock.gates.packed import count_bits, join_bits, pack, pack_positive, unpack


def random_bits(n: int, m: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(n, m, generator=generator) < torch.rand((), generator=generator)


sizes = {"n": st.integers(1, 9), "m": st.integers(0, 300), "seed": st.integers(0, 2**31)}


@given(**sizes)
def test_gate_i_is_bit_i_of_the_words(n: int, m: int, seed: int):
    bits = random_bits(n, m, seed)
    assert pack(bits).tolist() == oracle.packed(bits.tolist())


@pytest.mark.skipif(not compiled.available(), reason="needs Numba")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@given(**sizes)
def test_packing_in_one_pass_gives_the_words_of_two(dtype, n: int, m: int, seed: int):
    q = torch.randn(n, m, generator=torch.Generator().manual_seed(seed)).to(dtype)
    extremes = torch.tensor([0.0, -0.0, torch.inf, -torch.inf, torch.nan, -torch.nan, 1e-45, -1e-45]).to(
        dtype
    )
    q.flatten()[:: 3 + seed % 5] = extremes[seed % 8]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed, "WORTH_COMPILING", 0)
        assert torch.equal(pack_positive(q), pack(q > 0))


@pytest.mark.skipif(not compiled.available(), reason="needs Numba")
@pytest.mark.parametrize("lying", [
    lambda q: q, lambda q: q.to(memory_format=torch.channels_last), lambda q: q.mT, lambda q: q[::2],
    lambda q: q[0], lambda q: q.requires_grad_(),
])  # fmt: skip
def test_a_large_batch_is_packed_alike_however_it_lies_in_memory(lying):
    q = lying(torch.randn(9, 7, 300, 111))
    assert q.numel() > packed.WORTH_COMPILING or len(q) == 7
    assert torch.equal(pack_positive(q), pack((q > 0).reshape(len(q), -1)))


def test_a_small_batch_does_not_wait_for_numba(monkeypatch):
    monkeypatch.setattr(compiled, "available", None)
    assert pack_positive(torch.tensor([[1.0, -1.0, 2.0]])).tolist() == [[5]]


@given(**sizes)
def test_unpacking_is_the_inverse_of_packing(n: int, m: int, seed: int):
    bits = random_bits(n, m, seed)
    assert torch.equal(unpack(pack(bits), m), bits)


def test_bits_that_lie_anywhere_in_memory_are_packed_alike():
    bits = random_bits(96, 128, seed=1)
    assert torch.equal(pack(bits.T.contiguous().T), pack(bits))
    assert torch.equal(pack(bits[:, ::2]), pack(bits[:, ::2].clone()))
    # an offset of one byte: no word may be read across the boundary of another
    shifted = torch.cat([torch.zeros(1, dtype=torch.bool), bits.flatten()])[1:].view(96, 128)
    assert torch.equal(pack(shifted), pack(bits))


@given(**sizes)
def test_bits_are_counted_by_row(n: int, m: int, seed: int):
    bits = random_bits(n, m, seed)
    assert count_bits(pack(bits)).tolist() == bits.sum(1).tolist()


def test_full_and_empty_words_are_counted():
    assert count_bits(torch.tensor([[-1], [0], [-(2**63)]])).tolist() == [64, 0, 1]


@given(**sizes)
def test_rows_are_joined_gate_by_gate(n: int, m: int, seed: int):
    bits = random_bits(n, m, seed)
    assert torch.equal(unpack(join_bits(pack(bits), torch.bitwise_or)[None], m)[0], bits.any(0))
    assert torch.equal(unpack(join_bits(pack(bits), torch.bitwise_and)[None], m)[0], bits.all(0))


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@given(**sizes)
def test_a_gpu_makes_the_same_words(n: int, m: int, seed: int):
    bits = random_bits(n, m, seed)
    words = pack(bits.cuda())
    assert torch.equal(words.cpu(), pack(bits))
    assert torch.equal(unpack(words, m).cpu(), bits)
    assert torch.equal(count_bits(words).cpu(), count_bits(pack(bits)))
