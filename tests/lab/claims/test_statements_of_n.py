"""The theorems of N that listed paths can show, as they read, over random networks."""

from functools import cache
from math import prod

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import nn

from networks.drawn import agree, drawn, dtypes, inputs, seeds, widths
from oracle import kernels
from penstock import capture, count_paths, list_paths, npf, npv, vtk
from penstock.lab.models.many import many_networks
from penstock.lab.models.toy import toy_inputs, toy_network
from penstock.lab.models.varied import FAMILIES, varied_network


@cache
def without_relus(model: nn.Sequential) -> nn.Sequential:
    """The deep linear network of the same layers."""
    return nn.Sequential(*[layer for layer in model if isinstance(layer, nn.Linear)])


@pytest.mark.parametrize("family", FAMILIES)
def test_n2_n5_output_and_tangent_kernel_are_made_of_paths_in_every_kind_of_network(family: str):
    """ŷ = ⟨φ, v⟩ (Proposition 2.1) and K = ΦᵀVΦ (Proposition 3.1), K by the oracle's loop over gradients."""

    def make(generator: torch.Generator, dtype: torch.dtype) -> tuple[nn.Module, tuple[int, ...]]:
        return varied_network(family, generator, dtype)

    for network in many_networks(make, seed=7, architectures=2, draws=4):
        model, x = network.model, network.inputs(3)
        features, values = npf(model, x), npv(model, input_shape=network.shape)
        size = (features.abs() @ values.abs()).max()
        assert agree(features @ values, model(x).detach()[:, 0], size)
        kernel = vtk(model, input_shape=network.shape)
        size = (features.abs() @ kernel.abs() @ features.abs().T).max()
        assert agree(features @ kernel @ features.T, kernels.ntk(model, x, output=0), size)


@given(widths, seeds, dtypes, st.booleans())
def test_n2_output_is_the_inner_product_of_features_and_values(
    sizes: tuple[int, ...], seed: int, dtype: torch.dtype, bias: bool
):
    model, x = drawn(sizes, seed, bias=bias, dtype=dtype), inputs(sizes[:1], seed, dtype=dtype)
    features, values = npf(model, x), npv(model)
    assert agree(features @ values, model(x).detach()[:, 0], (features.abs() @ values.abs()).max())


def test_n3_figure_1_has_18_paths_and_two_of_them_are_open_for_both_inputs():
    model, x = toy_network(), toy_inputs()
    paths = list_paths(model)
    assert len(paths) == count_paths(model) == 18
    assert [path[0] for path in paths] == [0] * 9 + [1] * 9
    assert tuple(paths[2]) == (0, 0, 2, 0)  # p3
    assert tuple(paths[11]) == (1, 0, 2, 0)  # p12
    active = npf(model, x) != 0
    assert (active[0] & active[1]).nonzero()[:, 0].tolist() == [2, 11]
    assert len({tuple(row) for row in active.tolist()}) == 3


@given(widths, seeds, dtypes)
def test_n4_path_kernel_is_gram_times_shared_paths(sizes: tuple[int, ...], seed: int, dtype: torch.dtype):
    """H = Σ ⊙ Λ with Λ(s, s') = |Act(s, s')| / d_in (Lemma 2.1) = Π τ(s, s', l) (Definition C.2)."""
    model, x = drawn(sizes, seed, dtype=dtype), inputs(sizes[:1], seed, examples=5, dtype=dtype)
    features = npf(model, x)
    active = (features != 0).double()
    counted = torch.stack(list(capture(model, x).overlap().values())).prod(dim=0)
    assert torch.equal(active @ active.T, sizes[0] * counted.double())
    assert agree(features @ features.T, (x @ x.T) * counted.to(dtype))


@given(widths, seeds, dtypes, st.booleans())
def test_n5_tangent_kernel_is_features_around_the_value_tangent_kernel(
    sizes: tuple[int, ...], seed: int, dtype: torch.dtype, bias: bool
):
    model, x = drawn(sizes, seed, bias=bias, dtype=dtype), inputs(sizes[:1], seed, dtype=dtype)
    features, values = npf(model, x), vtk(model)
    size = (features.abs() @ values.abs() @ features.abs().T).max()
    assert agree(features @ values @ features.T, kernels.ntk(model, x, output=0), size)


@settings(max_examples=60)
@given(widths, seeds, st.booleans())
def test_n7_least_eigenvalue_of_k_is_at_most_that_of_h_times_the_largest_of_v(
    sizes: tuple[int, ...], seed: int, bias: bool
):
    model, x = drawn(sizes, seed, bias=bias), inputs(sizes[:1], seed, examples=2)
    features, values = npf(model, x), vtk(model)
    path_kernel = torch.linalg.eigvalsh(features @ features.T)
    assume(path_kernel[0] > 1e-9 * path_kernel[-1])  # a singular H makes both sides zero
    least = torch.linalg.eigvalsh(kernels.ntk(model, x, output=0))[0]
    assert least <= path_kernel[0] * torch.linalg.eigvalsh(values)[-1] * (1 + 1e-9)


@given(widths, seeds, dtypes)
def test_n14_a_deep_linear_network_opens_every_path(sizes: tuple[int, ...], seed: int, dtype: torch.dtype):
    """Λ ≡ w^(d-1), here the product of the hidden widths."""
    linear = without_relus(drawn(sizes, seed, dtype=dtype))
    x = inputs(sizes[:1], seed, dtype=dtype)
    features = npf(linear, x)
    active = (features != 0).double()
    assert torch.equal(
        active @ active.T / sizes[0], torch.full((3, 3), float(prod(sizes[1:-1])), dtype=torch.float64)
    )
    assert agree(features @ features.T, prod(sizes[1:-1]) * (x @ x.T))


@given(widths, seeds, st.booleans())
def test_n26_the_value_tangent_kernel_forgets_the_gates(sizes: tuple[int, ...], seed: int, bias: bool):
    """With the same weights a deep linear and a ReLU network have one V (remark after Definition 3.2)."""
    relu = drawn(sizes, seed, bias=bias)
    linear = without_relus(relu)
    assert torch.equal(vtk(linear), vtk(relu))
    assert torch.equal(npv(linear), npv(relu))


def test_n26_but_the_tangent_kernels_differ():
    relu, x = toy_network(), toy_inputs()
    linear = without_relus(relu)
    assert not torch.allclose(kernels.ntk(linear, x), kernels.ntk(relu, x))
