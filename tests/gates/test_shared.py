import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from oracle import gates as oracle
from penstock import PenstockError, compiled
from penstock.gates.packed import pack
from penstock.gates.shared import shared_counts, shared_products

NEEDS_NUMBA = pytest.mark.skipif(not compiled.available(), reason="needs Numba")
WAYS = [pytest.param(True, id="compiled", marks=NEEDS_NUMBA), pytest.param(False, id="torch")]

sizes = {
    "n": st.integers(1, 9),
    "m": st.integers(1, 9),
    "gates": st.integers(1, 300),
    "seed": st.integers(0, 2**31),
}


def bits_of(n: int, gates: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(n, gates, generator=generator) < torch.rand((), generator=generator)


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """Each of the two ways of counting: where Numba is there, and where it is missing."""
    if not request.param:
        monkeypatch.setattr(compiled, "available", lambda: False)


@pytest.mark.usefixtures("way")
class TestEachWay:
    @given(**sizes)
    def test_tau_counts_the_gates_open_for_both(self, n: int, m: int, gates: int, seed: int):
        mine, its = bits_of(n, gates, seed), bits_of(m, gates, seed + 1)
        assert shared_counts(pack(mine), pack(its)).tolist() == oracle.shared(mine, its)
        assert shared_counts(pack(mine)).tolist() == oracle.shared(mine, mine)

    @given(depth=st.integers(1, 4), **sizes)
    def test_lambda_is_the_product_of_tau_over_layers(
        self, depth: int, n: int, m: int, gates: int, seed: int
    ):
        mine = [pack(bits_of(n, gates + layer, seed + layer)) for layer in range(depth)]
        its = [pack(bits_of(m, gates + layer, seed - layer)) for layer in range(depth)]
        by_layer = torch.stack([shared_counts(a, b) for a, b in zip(mine, its, strict=True)])
        assert torch.equal(shared_products(mine, its), by_layer.prod(0).double())
        alone = torch.stack([shared_counts(a) for a in mine])
        assert torch.equal(shared_products(mine), alone.prod(0).double())

    @pytest.mark.parametrize("n", [31, 32, 33, 127, 129, 511, 513, 1025])
    @pytest.mark.parametrize("gates", [63, 64, 65, 257, 1000])
    def test_no_row_or_word_is_lost_where_tiles_and_strips_end(self, n: int, gates: int):
        mine, its = bits_of(n, gates, n), bits_of(130, gates, gates)
        expected = mine.float() @ its.float().T
        assert torch.equal(shared_counts(pack(mine), pack(its)).float(), expected)
        assert torch.equal(shared_counts(pack(its), pack(mine)).float(), expected.T)
        assert torch.equal(shared_counts(pack(mine)).float(), mine.float() @ mine.float().T)

    def test_a_layer_of_a_million_gates_is_counted_exactly(self):
        words = torch.full((2, 2**14 + 1), -1)
        assert shared_counts(words).tolist() == [[2**20 + 64] * 2] * 2

    def test_lambda_goes_past_the_integers(self):
        depth, words = 40, torch.full((1, 16), -1)
        assert shared_products([words] * depth).item() == 1024.0**depth

    def test_autocast_around_the_call_does_not_round_the_counts(self):
        words = pack(bits_of(40, 3000, seed=5))
        alone = shared_counts(words)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert torch.equal(shared_counts(words), alone)

    def test_lower_matmul_precision_does_not_round_the_counts(self):
        words = pack(bits_of(40, 3000, seed=5))
        alone = shared_counts(words)
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("medium")
        try:
            assert torch.equal(shared_counts(words), alone)
        finally:
            torch.set_float32_matmul_precision(before)

    def test_words_may_be_a_view_and_stay_as_they_are(self):
        words = pack(bits_of(40, 640, seed=5))
        view = words.T.contiguous().T
        before = view.clone()
        assert torch.equal(
            shared_counts(view[::2], view[1::2]), shared_counts(words[::2].clone(), words[1::2].clone())
        )
        assert torch.equal(view, before)

    def test_layers_of_different_size_are_refused(self):
        with pytest.raises(PenstockError, match="3 words cannot be shared with gates of 4 words"):
            shared_products([torch.zeros(2, 3, dtype=torch.int64)], [torch.zeros(2, 4, dtype=torch.int64)])

    def test_an_empty_layer_shares_nothing(self):
        assert shared_counts(torch.zeros(2, 0, dtype=torch.int64)).tolist() == [[0, 0], [0, 0]]


def test_no_layers_are_refused():
    with pytest.raises(PenstockError, match="no layers"):
        shared_products([])


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_counts_the_same():
    words = [pack(bits_of(2000, 1000, seed)) for seed in range(3)]
    there = [layer.cuda() for layer in words]
    assert torch.equal(shared_counts(there[0]).cpu(), shared_counts(words[0]))
    assert torch.equal(shared_counts(there[0][:99], there[0]).cpu(), shared_counts(words[0][:99], words[0]))
    assert torch.equal(shared_products(there).cpu(), shared_products(words))
    # sums past 2048, where half precision would round
    wide = [pack(bits_of(300, 40_000, seed)) for seed in (1, 2)]
    assert torch.equal(shared_counts(*(layer.cuda() for layer in wide)).cpu(), shared_counts(*wide))
    assert shared_counts(wide[0]).max() > 2048
