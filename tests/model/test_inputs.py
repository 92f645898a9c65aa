"""Inputs of every kind become tensors that the model can take, or a sentence."""

from typing import Any

import jaxtyping
import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from penstock import PenstockError
from penstock.model import batches, how_many, whole

SINGLE, DOUBLE = nn.Linear(3, 2), nn.Linear(3, 2).double()


def loader(examples: Any, **arguments: Any) -> DataLoader:
    """A loader of anything that has a length, or none."""
    return DataLoader(examples, **arguments)


def test_a_tensor_is_one_batch_unless_a_size_is_asked_for():
    x = torch.randn(10, 3)
    assert [len(batch) for batch in batches(SINGLE, x)] == [10]
    parts = list(batches(SINGLE, x, size=4))
    assert [len(part) for part in parts] == [4, 4, 2]
    assert torch.equal(torch.cat(parts), x)


def test_all_of_it_is_one_tensor():
    x = torch.randn(10, 3)
    assert torch.equal(whole(SINGLE, x), x)
    assert torch.equal(whole(SINGLE, DataLoader(TensorDataset(x), batch_size=3)), x)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.arange(6.0, dtype=np.float32).reshape(2, 3),
        np.arange(6).reshape(2, 3),
        np.arange(6, dtype=np.uint16).reshape(2, 3),
        np.arange(6.0).astype(">f4").reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(6.0, dtype=np.longdouble).reshape(2, 3),
        np.arange(12.0).reshape(2, 6)[:, ::2] / 2,
        np.arange(6.0)[::-1].reshape(2, 3)[::-1, ::-1],
    ],
)
def test_arrays_are_converted_to_the_models_dtype(array):
    for model, dtype in ((SINGLE, torch.float32), (DOUBLE, torch.float64)):
        assert torch.equal(whole(model, array), torch.arange(6, dtype=dtype).reshape(2, 3))


def test_an_array_is_copied():
    array = np.ones((2, 3), dtype=np.float32)
    whole(SINGLE, array).zero_()
    assert array.all()


def test_a_read_only_array_is_no_obstacle():
    array = np.ones((2, 3), dtype=np.float32)
    array.setflags(write=False)
    assert whole(SINGLE, array).shape == (2, 3)


def test_the_batches_of_a_loader_are_converted():
    x = torch.randn(4, 3)
    assert whole(DOUBLE, DataLoader(TensorDataset(x), batch_size=2)).dtype == torch.float64
    assert whole(SINGLE, loader([np.ones((2, 3))], batch_size=None)).dtype == torch.float32


def test_a_model_without_numbers_of_its_own_takes_any_dtype():
    assert whole(nn.ReLU(), torch.ones(1, 3, dtype=torch.float16)).dtype == torch.float16
    assert whole(nn.ReLU(), np.ones((1, 3))).dtype == torch.float32


@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        (
            torch.ones(2, 3).double(),
            r"x is torch.float64 and the model is torch.float32; convert one: x.to\(torch.float32\)",
        ),
        (torch.ones(2, 3, device="meta"), r"x is on meta and the model is on cpu; move one: x.to\('cpu'\)"),
        (
            torch.ones(2, 3, dtype=torch.int64),
            r"x is torch.int64, and floating-point numbers are needed; convert it, x.float",
        ),
        (torch.ones(2, 3, dtype=torch.bool), "x is torch.bool, and floating-point"),
        (torch.ones(2, 3, dtype=torch.complex64), "x is torch.complex64, and gates .* real numbers only"),
        (torch.ones(2, 3).to_sparse(), r"laid out as torch.sparse_coo; make it dense first: x.to_dense"),
        (torch.ones(0, 3), r"x is empty \(its shape is \(0, 3\)\); give it at least one example"),
        (torch.ones(2, 0), r"x is empty \(its shape is \(2, 0\)\)"),
        (torch.tensor(1.0), "x is a single number, and examples × features are needed"),
        (torch.ones(3), r"x has one dimension, of 3, and examples × features are needed: x\[None\] for one"),
        (np.ones((2, 3), dtype=bool), "x is an array of bool, and real numbers are needed"),
        (np.ones((2, 3), dtype=complex), "x is an array of complex128, and real numbers"),
        (np.array([["a"]]), "x is an array of <U1"),
        (np.ones(3), "x has one dimension"),
        (np.ones((0, 3)), "x is empty"),
        ([[1.0, 2.0, 3.0]], "x must be a tensor, a NumPy array or a DataLoader, not list"),
        (None, "not NoneType"),
        (
            TensorDataset(torch.ones(2, 3)),
            r"x is a data set \(TensorDataset\); put it in a torch.utils.data.DataLoader",
        ),
        (
            DataLoader(TensorDataset(torch.ones(2, 3, dtype=torch.int64))),
            "x is torch.int64, and floating-point",
        ),
    ],
)
def test_what_the_model_cannot_take_is_told_in_one_sentence(x, sentence, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # as a user runs it
    with pytest.raises(PenstockError, match=sentence):
        whole(SINGLE, x)


@pytest.mark.parametrize(
    ("value", "what"), [(torch.nan, "NaN"), (torch.inf, "an infinite number"), (-torch.inf, "an inf")]
)
def test_nan_and_infinity_are_refused_with_their_row(value, what):
    x = torch.ones(9, 3)
    x[7, 1] = value
    for given in (x, x.numpy(), DataLoader(TensorDataset(x), batch_size=4)):
        with pytest.raises(PenstockError, match=f"x has {what}.* in row 7"):
            whole(SINGLE, given)
    with pytest.raises(PenstockError, match="in row 7"):
        list(batches(SINGLE, x, size=4))


def test_an_array_too_large_for_the_models_dtype_is_refused():
    with pytest.raises(PenstockError, match="x has an infinite number in row 1"):
        whole(SINGLE, np.array([[1.0, 1.0, 1.0], [1.0, 1e300, 1.0]]))


def test_examples_of_several_sizes_are_no_one_tensor():
    several = loader([torch.ones(2, 3), torch.ones(2, 4)], batch_size=None)
    with pytest.raises(PenstockError, match=r"examples of different shapes, \(3,\) and \(4,\)"):
        whole(SINGLE, several)


def test_how_many_examples_there_are_is_known_where_it_can_be():
    x = torch.ones(7, 3)
    assert how_many(x) == how_many(x.numpy()) == how_many(loader(x, batch_size=2)) == 7
    assert how_many(loader(x, sampler=[1, 2])) == 2
    assert how_many(loader([x, x], batch_size=None)) is None


def test_a_batch_has_at_least_one_example():
    with pytest.raises(PenstockError, match="at least one example, not 0"):
        list(batches(SINGLE, torch.ones(2, 3), size=0))
