"""The papers' errors, each shown: what is printed fails, and what it should say holds."""

from collections.abc import Iterator
from functools import cache
from itertools import product
from math import prod

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from penstock import Hard, Soft, capture, decouple, npf, npv, sensitivity, vtk
from penstock.lab.claims.four_paths import FourPaths
from penstock.lab.claims.jacobian import tangent_kernel
from penstock.lab.claims.splicing import AS_CORRECTED, AS_PRINTED, Splicing
from penstock.lab.models.circular import CircularNetwork
from penstock.lab.models.fully_connected import relu_network
from penstock.lab.models.initialization import Bernoulli, Gaussian
from penstock.lab.models.random_sizes import seeded
from penstock.lab.models.redrawing import redraw
from penstock.lab.models.toy import toy_inputs, toy_network

seeds = st.integers(0, 2**31 - 1)
sigmas = st.floats(0.2, 2.0)
tiny_widths = st.sampled_from(
    [(1, 2, 1), (2, 2, 1), (3, 1, 1), (1, 2, 2, 1), (2, 2, 1, 1), (2, 1, 2, 1), (2, 2, 2, 1)]
)
small_widths = st.sampled_from([(2, 2, 1), (3, 3, 1), (2, 2, 3, 1), (3, 2, 2, 1), (2, 2, 2, 2, 1)])


@cache
def module(sizes: tuple[int, ...]) -> nn.Sequential:
    """One for each architecture, so that it is read once."""
    return relu_network(sizes, Gaussian(1.0), seeded(0))


@cache
def circular(positions: int, kernel: int, convolutions: int) -> CircularNetwork:
    return CircularNetwork(positions, kernel, convolutions, Gaussian(1.0), seeded(0))


def network(sizes: tuple[int, ...], seed: int) -> nn.Sequential:
    """Random weights, in the one module of these widths."""
    redraw(module(sizes), seeded(seed))
    return module(sizes)


def inputs(sizes: tuple[int, ...], seed: int, examples: int = 3) -> Tensor:
    return torch.randn(examples, sizes[0], generator=seeded(seed, 1), dtype=torch.float64)


def starts(sizes: tuple[int, ...]) -> Tensor:
    """The input of every path, in the order of N Figure 1."""
    return torch.arange(prod(sizes)) // prod(sizes[1:])


def over_all_signs(model: nn.Module, sigma: float) -> Iterator[None]:
    """The model with every choice of weights ±σ, one after the other."""
    weights = list(model.parameters())
    for draw in product((-sigma, sigma), repeat=sum(weight.numel() for weight in weights)):
        parts = torch.tensor(draw, dtype=torch.float64).split([weight.numel() for weight in weights])
        with torch.no_grad():
            for weight, part in zip(weights, parts, strict=True):
                weight.copy_(part.view_as(weight))
        yield


def wire(x: Tensor, features: Tensor, values: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """κ(s, s', i, i') = Σ A(s, p1) A(s', p2) ⟨ϕ_p1, ϕ_p2⟩ over paths p1 from input i and p2 from i'."""
    activity = features / x[:, starts(sizes)]
    apart = activity.view(len(x), sizes[0], -1)
    blocks = values.view(sizes[0], prod(sizes[1:]), sizes[0], prod(sizes[1:]))
    return torch.einsum("sip,ipjq,tjq->stij", apart, blocks, apart)


class TestN21:
    """The expectation of four path gradients as a product over layers."""

    @settings(max_examples=10)
    @given(tiny_widths, sigmas)
    def test_n_21_holds_for_weights_of_different_layers(self, sizes: tuple[int, ...], sigma: float):
        terms = FourPaths(sizes, sigma)
        meant = terms.condition_i() & ~terms.same_layer()[:, None, None, :, None, None]
        torch.testing.assert_close(terms.formula_21_as_printed()[meant], terms.expectation[meant])

    @settings(max_examples=10)
    @given(tiny_widths, sigmas)
    def test_n_21_is_off_by_sigma_to_the_fourth_for_weights_of_one_layer(
        self, sizes: tuple[int, ...], sigma: float
    ):
        assume(abs(sigma - 1) > 0.05)
        terms = FourPaths(sizes, sigma)
        meant = terms.condition_i() & terms.same_layer()[:, None, None, :, None, None]
        printed, enumerated = terms.formula_21_as_printed()[meant], terms.expectation[meant]
        assert enumerated.any()
        torch.testing.assert_close(printed, sigma**4 * enumerated)
        torch.testing.assert_close(terms.formula_21_as_corrected()[meant], enumerated)

    def test_n_21_prints_0_0138_where_enumeration_gives_0_0576(self):
        terms = FourPaths((1, 2, 2, 1), 0.7)
        survives = terms.same_layer()[:, None, None, :, None, None] & (terms.expectation != 0)
        assert terms.expectation[survives].numpy() == pytest.approx(0.0576, abs=5e-5)
        assert terms.formula_21_as_printed()[survives].numpy() == pytest.approx(0.0138, abs=5e-5)


class TestNCrossings:
    """Definition B.2 leaves out hidden layer 1; the lemmas that stand on it need it."""

    @settings(max_examples=10)
    @given(tiny_widths)
    def test_n_lemmas_b_2_and_b_3_hold_when_hidden_layer_1_counts(self, sizes: tuple[int, ...]):
        splicing = Splicing(FourPaths(sizes, 0.5), AS_CORRECTED)
        assert splicing.without_base() == 0
        assert splicing.surviving_without_crossing() == 0

    @pytest.mark.parametrize("sizes", [(2, 2, 1), (1, 2, 2, 1), (2, 1, 2, 1)])
    def test_n_lemma_b_3_fails_for_paths_that_share_hidden_layer_1_only(self, sizes: tuple[int, ...]):
        assert Splicing(FourPaths(sizes, 0.5), AS_PRINTED).surviving_without_crossing() > 0

    @pytest.mark.parametrize("sizes", [(2, 1, 2, 1), (2, 2, 2, 1)])
    def test_n_lemma_b_2_fails_for_paths_that_part_again_after_hidden_layer_1(self, sizes: tuple[int, ...]):
        assert Splicing(FourPaths(sizes, 0.5), AS_PRINTED).without_base() > 0

    def test_n_lemma_b_3_counter_example(self):
        """One input, one unit of hidden layer 1, then apart: with two paths exchanged the term survives."""
        terms = FourPaths((1, 1, 2, 1), 0.5)
        one, other = 0, 1
        assert terms.nodes.tolist() == [[0, 0, 0, 0], [0, 0, 1, 0]]
        first = int(terms.weights[one, 0])
        assert first == int(terms.weights[other, 0])
        assert terms.expectation[first, one, other, first, one, other] == 0.5**8
        assert Splicing(terms, AS_PRINTED).crossings(one, other) == []


class TestDLemma21:
    """Signal against wire: the printed sum over i keeps the terms i = i' alone."""

    @given(small_widths, seeds)
    def test_d_lemma_2_1_drops_cross_terms(self, sizes: tuple[int, ...], seed: int):
        model, x = network(sizes, seed), inputs(sizes, seed)
        kappa = wire(x, npf(model, x), vtk(model), sizes)
        kernel = tangent_kernel(model, x)
        assume(kernel.abs().max() > 1e-6)
        torch.testing.assert_close(torch.einsum("si,tj,stij->st", x, x, kappa), kernel)
        printed = torch.einsum("si,ti,stii->st", x, x, kappa)
        assert torch.linalg.norm(kernel - printed) > 1e-6 * torch.linalg.norm(kernel)

    def test_d_lemma_2_1_counter_example(self):
        """One gate, x = (1, 1), weights 1: the kernel is 6, of which the printed form keeps 4."""
        sizes = (2, 1, 1)
        model, x = relu_network(sizes, Gaussian(0.0), seeded(0)), torch.ones(1, 2, dtype=torch.float64)
        for weight in model.parameters():
            nn.init.ones_(weight)
        kappa = wire(x, npf(model, x), vtk(model), sizes)
        assert kappa[0, 0].tolist() == [[2, 1], [1, 2]]
        assert tangent_kernel(model, x).item() == 6
        assert torch.einsum("si,ti,stii->st", x, x, kappa).item() == 4

    @settings(max_examples=4)
    @given(st.sampled_from([(2, 2, 1), (3, 1, 1), (2, 1, 2, 1)]), seeds)
    def test_d_lemma_2_1_cross_terms_vanish_on_average_over_weights_independent_of_the_gates(
        self, sizes: tuple[int, ...], seed: int
    ):
        x, sigma = inputs(sizes, seed), 0.5
        gated = npf(network(sizes, seed), x)
        weights = relu_network(sizes, Bernoulli(sigma), seeded(seed))
        kappas = torch.stack([wire(x, gated, vtk(weights), sizes) for _ in over_all_signs(weights, sigma)])
        cross = ~torch.eye(sizes[0], dtype=torch.bool)
        assert kappas.mean(0)[..., cross].abs().max() < 1e-12
        depth = len(sizes) - 1
        common = torch.einsum("stii->sti", kappas.mean(0)) / (depth * sigma ** (2 * (depth - 1)))
        # what is left is d σ^(2(d-1)) λ(s, s'), the same for every input i (D Theorem 2.3)
        torch.testing.assert_close(common, common[..., :1].expand_as(common), rtol=0, atol=1e-12)

    def test_d_lemma_2_1_cross_terms_stay_where_the_gates_are_the_networks_own(self):
        """x = (1, 1), two gates, all ±σ weights: E K = 3σ², a third of it cross terms."""
        sizes, sigma = (2, 2, 1), 0.5
        x = torch.ones(1, 2, dtype=torch.float64)
        model = relu_network(sizes, Bernoulli(sigma), seeded(0))
        kappa = torch.stack(
            [wire(x, npf(model, x), vtk(model), sizes) for _ in over_all_signs(model, sigma)]
        ).mean(0)[0, 0]
        assert kappa.sum().item() == pytest.approx(3 * sigma**2)
        assert kappa.sum().item() - kappa.trace().item() == pytest.approx(sigma**2)


class TestDPowersAndCounts:
    def test_d_introduction_says_mu_to_the_d_where_the_power_is_d_minus_1(self):
        """The toy's x1 and x2 share half of the gates in both layers: a quarter of the paths, with d = 3."""
        model, x = toy_network(), toy_inputs()
        shares = [tau[0, 1] / tau[0, 0] for tau in capture(model, x).overlap().values()]
        assert shares == [0.5, 0.5]
        active = (npf(model, x) != 0).double()
        share = float(active[0] @ active[1] / active[0].sum())
        depth = 3
        assert share == 0.5 ** (depth - 1)
        assert share > 0.5**depth

    def test_d_overlap_eta_is_one_where_an_input_is_compared_with_itself(self):
        """η over all pairs, s' = s among them, is 1 whatever the gates: the printed bound bounds nothing."""
        record = capture(toy_network(), toy_inputs()[:2])
        shares = torch.stack([tau / tau.diagonal()[:, None] for tau in record.overlap().values()])
        assert shares.max() == 1
        assert shares[:, ~torch.eye(2, dtype=torch.bool)].max() == 0.5

    @pytest.mark.parametrize(("inputs_", "width", "depth"), [(3, 2, 3), (2, 3, 2), (4, 2, 2), (3, 2, 4)])
    def test_d_fact_2_a_first_layer_weight_carries_no_factor_d_in(self, inputs_: int, width: int, depth: int):
        """w^(d-2) paths, where d_in w^(d-2) is printed for the first and the last layer alike."""
        terms = FourPaths((inputs_, *[width] * (depth - 1), 1), 0.5)
        carried = terms.through.sum(1)
        first, last = carried[terms.layer_of == 0], carried[terms.layer_of == depth - 1]
        assert first.tolist() == [width ** (depth - 2)] * (inputs_ * width)
        assert last.tolist() == [inputs_ * width ** (depth - 2)] * width
        for layer in range(1, depth - 1):
            assert (carried[terms.layer_of == layer] == inputs_ * width ** (depth - 3)).all()

    @pytest.mark.parametrize(("inputs_", "width", "depth"), [(3, 2, 3), (2, 2, 3), (3, 2, 4)])
    def test_d_fact_3_a_first_layer_weight_leaves_one_path_in_d_in_w(
        self, inputs_: int, width: int, depth: int
    ):
        """|P''| = |P'| / (d_in w) for the first layer, |P'| / w for the last, as is printed for both."""
        terms = FourPaths((inputs_, *[width] * (depth - 1), 1), 0.5)
        first, last = terms.through[terms.layer_of == 0], terms.through[terms.layer_of == depth - 1]
        assert (last.sum(1) == len(terms.nodes) // width).all()
        through_a_last = last[0].sum().item()
        through_both = (first & last[0]).sum(1)
        assert (through_both == through_a_last // (inputs_ * width)).all()
        assert (through_both != through_a_last // width).all()

    def test_d_definition_7_3_has_no_gate_in_layer_d(self):
        """A path has d - 1 gates; with the output's sign as a d-th, ŷ = ⟨φ, v⟩ would fail where ŷ < 0."""
        model, x = toy_network(), toy_inputs()
        assert len(capture(model, x)) == 2
        output = model(x).detach()[:, 0]
        features, values = npf(model, x), npv(model)
        torch.testing.assert_close(features @ values, output)
        with_a_gate_more = Hard().value(output)[:, None] * features
        assert not torch.allclose(with_a_gate_more @ values, output)


class TestNNotation:
    def test_n_table_1_means_the_weights_of_layer_d(self):
        """ŷ = Σ_j Θ(1, j, d) z(j, d-1); the printed Θ(1, j, d-1) is a weight of the last hidden layer."""
        model, x = toy_network(), toy_inputs()
        _, of_last_hidden_layer, of_layer_d = (weight.detach() for weight in model.parameters())
        last_hidden, output = model[:-1](x).detach(), model(x).detach()[:, 0]
        torch.testing.assert_close(last_hidden @ of_layer_d[0], output)
        assert not torch.allclose(last_hidden @ of_last_hidden_layer[0], output)

    def test_n_table_4_soft_gate_has_a_stray_comparison(self):
        """1 / (1 + exp(-β · q > 0)) as printed takes two values; what is meant takes all between 0 and 1."""
        q = torch.linspace(-3, 3, 50, dtype=torch.float64)
        printed = 1 / (1 + torch.exp((-4 * q > 0).double()))
        assert len(printed.unique()) == 2
        assert len(Soft(beta=4.0, epsilon=0.0).value(q).unique()) == len(q)

    def test_d_gates_are_called_0_to_1_and_reach_1_plus_epsilon(self):
        assert Soft(beta=4.0, epsilon=0.1).value(
            torch.tensor([50.0], dtype=torch.float64)
        ).item() == pytest.approx(1.1)


class TestNSharedWeights:
    @settings(max_examples=6)
    @given(st.integers(2, 3), st.integers(1, 2), seeds)
    def test_n_with_shared_weights_listed_paths_are_not_the_kernel_of_the_expectation(
        self, positions: int, convolutions: int, seed: int
    ):
        """E[y y'] over ±σ weights, gates held: paths of one string add up first (D Lemma 4.1)."""
        kernel, sigma = 2, 0.5
        model = circular(positions, kernel, convolutions)
        redraw(model, seeded(seed))
        x = torch.randn(3, 1, positions, generator=seeded(seed, 1), dtype=torch.float64)
        features, shape = npf(model, x), (1, positions)
        values = npv(model, input_shape=shape)
        bundle = torch.unique((values * 1e9).round(), return_inverse=True)[1]
        outputs = [features @ npv(model, input_shape=shape) for _ in over_all_signs(model, sigma)]
        expectation = torch.stack([torch.outer(y, y) for y in outputs]).mean(0)

        scale = sigma ** (2 * convolutions) / positions**2
        listed = features @ features.T
        bundled = features.new_zeros(len(x), kernel**convolutions).index_add_(1, bundle, features)
        torch.testing.assert_close(scale * (bundled @ bundled.T), expectation)
        assume(listed.abs().max() > 1e-3)
        assume(((bundled @ bundled.T) - listed).abs().max() > 1e-3)
        assert not torch.allclose(scale * listed, expectation)


class TestDLoss:
    def test_d_error_falls_twice_as_fast_as_1_says_for_the_loss_without_a_half(self):
        """One step on Σ(ŷ - y)² gives e - 2αKe; (1) says e - αKe, which is the loss ½Σ(ŷ - y)²."""
        sizes, step = (3, 4, 4, 1), 1e-7
        model, x = network(sizes, 3), inputs(sizes, 3)
        y = torch.tensor([1.0, -1.0, 0.5], dtype=torch.float64)
        before = model(x)[:, 0] - y
        kernel = tangent_kernel(model, x)
        gradients = torch.autograd.grad((before**2).sum(), list(model.parameters()))
        with torch.no_grad():
            for weight, gradient in zip(model.parameters(), gradients, strict=True):
                weight -= step * gradient
            moved = (model(x)[:, 0] - y - before) / step
        torch.testing.assert_close(moved, -2 * kernel @ before.detach(), rtol=1e-3, atol=0)


class TestDGates:
    def test_d_threshold_of_sensitive_gates_as_printed_lets_an_open_gate_be_sensitive(self):
        """β = 4, ε = 0, weight ¼, x = 2: q = ½ and G = 0.88 is moved by 4 · 0.88 · 0.12 · 2 = 0.84.

        At τ_A = 0.8 the printed slope is -0.16; without its sign, and with β besides (0.64), this gate is
        still above both thresholds. With β and ∂q/∂θ = 2 the second is 1.28.
        """
        model, x = relu_network((1, 1, 1), Gaussian(0.0), seeded(0)), torch.full((1, 1), 2.0).double()
        for weight in model.parameters():
            nn.init.constant_(weight, 0.25)
        soft = Soft(beta=4.0, epsilon=0.0)
        pair = decouple(model, soft, feature_gate=soft)
        gate, moved = capture(pair, x).to_dense()["value.1"].item(), sensitivity(pair, x)["value.1"].item()
        slope = -0.8 * (1 - 0.8)
        assert gate > 0.8
        assert slope < 0
        assert slope < -slope < 4 * -slope < moved
        assert moved <= 2 * 4 * -slope

    def test_d_table_2_and_n_table_4_are_two_networks(self):
        """A gating network that is soft itself (D) and a ReLU network (N) open the gates above the first
        layer differently.
        """
        sizes = (3, 4, 4, 1)
        model, x = network(sizes, 0), inputs(sizes, 0)
        soft = Soft()
        gates = [
            capture(decouple(model, soft, feature_gate=of_features), x).to_dense()
            for of_features in (soft, Hard())
        ]
        assert torch.equal(gates[0]["value.1"], gates[1]["value.1"])
        assert (gates[0]["value.3"] - gates[1]["value.3"]).abs().max() > 0.01
