"""The theorems of D that listed paths can show, as they read, over random networks."""

from itertools import product

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from networks.drawn import drawn, inputs, seeds, widths
from penstock import Soft, capture, count_paths, decouple, list_paths, npf, npv, sensitivity, vtk
from penstock.lab.claims.derivatives_of_gates import gate_derivatives
from penstock.lab.models.circular import CircularNetwork
from penstock.lab.models.initialization import Gaussian
from penstock.lab.models.random_sizes import seeded


def loss(outputs: Tensor) -> float:
    """Of the points (x, 1) and (2x, -1), as D has it: a sum of squares without a half."""
    return float(((outputs - torch.tensor([1.0, -1.0], dtype=outputs.dtype)) ** 2).sum())


@given(widths, seeds)
def test_d1_features_double_with_the_input_where_there_are_no_biases(sizes: tuple[int, ...], seed: int):
    model, x = drawn(sizes, seed), inputs(sizes[:1], seed)
    assert torch.equal(npf(model, 2 * x), 2 * npf(model, x))


@given(widths, seeds)
def test_d1_no_loss_is_below_nine_fifths_and_one_number_reaches_it(sizes: tuple[int, ...], seed: int):
    """f(2x) = 2 f(x) leaves (a - 1)² + (2a + 1)², least at a = -1/5."""
    model, x = drawn(sizes, seed), inputs(sizes[:1], seed, examples=1)
    both = torch.cat([x, 2 * x])
    outputs = model(both).detach()[:, 0]
    assert loss(outputs) >= 9 / 5 - 1e-12
    assume(abs(float(outputs[0])) > 1e-6)
    with torch.no_grad():
        model[-1].weight *= -0.2 / outputs[0]
    assert loss(model(both).detach()[:, 0]) == pytest.approx(9 / 5)


def test_d1_one_bias_fits_both_points():
    """ŷ = 3 - 2 relu(x + 0) takes 1 at x = 1 and -1 at 2."""
    model, x = drawn((1, 3, 1), 0, bias=True), torch.tensor([[1.0], [2.0]], dtype=torch.float64)
    with torch.no_grad():
        for parameter, values in zip(
            model.parameters(), ([[1], [0], [0]], [0, 0, 0], [[-2, 0, 0]], [3]), strict=True
        ):
            parameter.copy_(torch.tensor(values))
    assert loss(model(x).detach()[:, 0]) == 0


@settings(max_examples=4)
@given(st.sampled_from([(3, 1, 1), (2, 2, 1), (2, 1, 2, 1)]), st.sampled_from([0.5, 0.7]))
def test_d3_paths_are_apart_on_average_and_each_has_one_length(sizes: tuple[int, ...], sigma: float):
    """E⟨ϕ_p1, ϕ_p2⟩ = 0 over all ±σ weights; ⟨ϕ_p, ϕ_p⟩ = dσ^(2(d-1)) for each of them."""
    model = drawn(sizes, 0)
    weights, depth = list(model.parameters()), len(sizes) - 1
    length = depth * sigma ** (2 * (depth - 1))
    every = []
    for draw in product((-sigma, sigma), repeat=sum(weight.numel() for weight in weights)):
        parts = torch.tensor(draw, dtype=torch.float64).split([weight.numel() for weight in weights])
        with torch.no_grad():
            for weight, part in zip(weights, parts, strict=True):
                weight.copy_(part.view_as(weight))
        every.append(vtk(model))
    kernels = torch.stack(every)
    paths = kernels.shape[1]
    torch.testing.assert_close(
        kernels.mean(0), length * torch.eye(paths, dtype=torch.float64), rtol=0, atol=1e-14
    )
    diagonals = kernels.diagonal(dim1=1, dim2=2)
    torch.testing.assert_close(diagonals, torch.full_like(diagonals, length))
    assert kernels[:, ~torch.eye(paths, dtype=torch.bool)].abs().max() > 0.1 * length


@settings(max_examples=60)
@given(widths, seeds)
def test_d7_shared_paths_fall_with_depth_at_least_as_eta_to_the_d_minus_1(sizes: tuple[int, ...], seed: int):
    model, x = drawn(sizes, seed), inputs(sizes[:1], seed)
    active = (npf(model, x) != 0).double()
    shared = active @ active.T
    shared_gates = torch.stack(list(capture(model, x).overlap().values())).double()
    own = shared_gates.diagonal(dim1=1, dim2=2)
    pairs = (own > 0).all(dim=0)[:, None] & ~torch.eye(3, dtype=torch.bool)
    assume(pairs.any())
    eta = (shared_gates / own[:, :, None])[:, pairs].max()
    ratio = (shared / shared.diagonal()[:, None])[pairs].max()
    assert ratio <= eta ** (len(sizes) - 2) * (1 + 1e-12)


@given(widths, seeds, st.floats(0.5, 8.0), st.floats(0.0, 0.5), st.floats(0.5, 0.99))
def test_d19_a_gate_above_one_threshold_is_not_above_the_other(
    sizes: tuple[int, ...], seed: int, beta: float, epsilon: float, share: float
):
    """τ_A ≥ (1+ε)/2 and τ_S = β τ_A (1 - τ_A/(1+ε)) max|∂q/∂θ|, for each input its own."""
    soft, x = Soft(beta, epsilon), inputs(sizes[:1], seed, examples=8)
    pair = decouple(drawn(sizes, seed), soft, feature_gate=soft)
    tau = share * (1 + epsilon)
    largest = gate_derivatives(pair, x).steepest[:, None]
    gates, moved = capture(pair, x).to_dense(), sensitivity(pair, x)
    active = {name: gates[name] > tau for name in moved}
    assume(any(each.any() for each in active.values()))
    for name, each in moved.items():
        assert not (active[name] & (each > beta * tau * (1 - share) * largest * (1 + 1e-12))).any()


@settings(max_examples=5)
@given(
    st.integers(2, 4).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n))), st.integers(1, 3), seeds
)
def test_d20_rotations_of_a_circular_path_share_their_strength(
    ring: tuple[int, int], convolutions: int, seed: int
):
    """d_in ŵ^(d-1) paths and ŵ^(d-1) strings of weights, each on d_in paths, one from every input."""
    positions, kernel = ring
    model = CircularNetwork(positions, kernel, convolutions, Gaussian(1.0), seeded(seed))
    paths, shape = list_paths(model, input_shape=(1, positions)), (1, positions)
    bundles: dict[tuple[str, ...], list[int]] = {}
    for number, path in enumerate(paths):
        bundles.setdefault(tuple(map(str, path.weights)), []).append(number)
    assert len(paths) == count_paths(model, input_shape=shape) == positions * kernel**convolutions
    assert len(bundles) == kernel**convolutions
    values = npv(model, input_shape=shape)
    for members in bundles.values():
        assert sorted(paths[member][0] for member in members) == list(range(positions))
        torch.testing.assert_close(values[members], values[members[:1]].expand(positions))


def test_d20_figure_9_has_24_paths_of_8_strengths():
    model = CircularNetwork(3, 2, 3, Gaussian(1.0), seeded(0))
    values = npv(model, input_shape=(1, 3))
    assert len(values) == 24
    assert len(values.mul(1e9).round().unique()) == 8
