import numpy as np
import pytest

pytest.importorskip("numba")

from penstock.compiled.popcount import multiply_counts


def words_of(n: int, words: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-(2**63), 2**63, size=(n, words), dtype=np.int64)


def counted_one_by_one(rows: np.ndarray, others: np.ndarray) -> list[list[int]]:
    unsigned = [[[int(word) % 2**64 for word in row] for row in matrix] for matrix in (rows, others)]
    return [
        [sum((a & b).bit_count() for a, b in zip(mine, its, strict=True)) for its in unsigned[1]]
        for mine in unsigned[0]
    ]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 5, 130])
def test_every_number_of_threads_counts_the_same(n: int, threads: int):
    rows, others = words_of(n, 5, seed=n), words_of(7, 5, seed=n + 1)
    out = np.empty((n, 7), np.int64)
    multiply_counts([rows], [others], out, threads)
    assert out.tolist() == counted_one_by_one(rows, others)


@pytest.mark.parametrize("threads", [1, 2])
def test_of_one_set_both_halves_are_written(threads: int):
    rows = words_of(200, 3, seed=1)
    out = np.full((200, 200), -1)
    multiply_counts([rows], None, out, threads)
    assert out.tolist() == counted_one_by_one(rows, rows)


def test_the_layers_multiply():
    first, second = words_of(9, 2, seed=1), words_of(9, 7, seed=2)
    out = np.empty((9, 9), np.int64)
    multiply_counts([first, second], None, out, 1)
    one_by_one = np.array(counted_one_by_one(first, first)) * np.array(counted_one_by_one(second, second))
    assert out.tolist() == one_by_one.tolist()


def test_the_words_stay_as_they_are():
    rows = words_of(9, 2, seed=1)
    before = rows.copy()
    multiply_counts([rows], None, np.empty((9, 9), np.int64), 1)
    assert (rows == before).all()
