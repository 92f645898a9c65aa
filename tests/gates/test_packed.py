import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from oracle import gates as oracle
from torch import Tensor

from penstock.gates.packed import count_bits, join_bits, pack, unpack


def random_bits(n: int, m: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(n, m, generator=generator) < torch.rand((), generator=generator)


sizes = {"n": st.integers(1, 9), "m": st.integers(0, 300), "seed": st.integers(0, 2**31)}


@given(**sizes)
def test_gate_i_is_bit_i_of_the_words(n: int, m: int, seed: int):
    bits = random_bits(n, m, seed)
    assert pack(bits).tolist() == oracle.packed(bits.tolist())


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
