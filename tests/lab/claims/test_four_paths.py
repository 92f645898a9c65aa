"""The enumeration of N Appendix B.1.2 against its definition, and what the paper says of it."""

from itertools import pairwise, product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import list_paths, npv
from penstock.errors import PenstockError
from penstock.lab.claims.four_paths import LAYOUTS, TABLE_3, FourPaths
from penstock.lab.models.fully_connected import relu_network
from penstock.lab.models.initialization import Gaussian
from penstock.lab.models.random_sizes import seeded

tiny = st.sampled_from(
    [(1, 2, 1), (2, 2, 1), (3, 1, 1), (1, 2, 2, 1), (2, 1, 2, 1), (2, 2, 2, 1), (1, 2, 1, 2, 1)]
)
sigmas = st.floats(0.2, 2.0)


@pytest.mark.parametrize("sizes", [(2, 2, 1), (1, 2, 2, 1)])
def test_expectation_is_the_mean_over_all_signs_of_the_product_of_four_gradients(sizes: tuple[int, ...]):
    """By autograd, draw by draw, for a sample of terms."""
    sigma = 0.7
    terms = FourPaths(sizes, sigma)
    model = relu_network(sizes, Gaussian(1.0), seeded(0))
    shapes = [parameter.shape for parameter in model.parameters()]
    gradients = []
    for draw in product((-sigma, sigma), repeat=len(terms.layer_of)):
        flat = torch.tensor(draw, dtype=torch.float64, requires_grad=True)
        parts = [
            part.view(shape)
            for part, shape in zip(flat.split([s.numel() for s in shapes]), shapes, strict=True)
        ]
        values = [
            torch.stack([parts[layer][path[layer + 1], path[layer]] for layer in range(len(parts))]).prod()
            for path in terms.nodes.tolist()
        ]
        gradients.append(
            torch.stack([torch.autograd.grad(value, flat, retain_graph=True)[0] for value in values], 1)
        )
    each = torch.stack(gradients)
    torch.testing.assert_close(terms.gradients, each)
    index = torch.randint(0, 2**31, (200, 6), generator=seeded(1)) % torch.tensor(terms.expectation.shape)
    a, p, q, b, r, s = torch.cat([index, terms.survivors()[:50]]).T
    mean = (each[:, a, p] * each[:, a, q] * each[:, b, r] * each[:, b, s]).mean(0)
    torch.testing.assert_close(terms.expectation[a, p, q, b, r, s], mean)


def test_paths_and_weights_are_numbered_as_list_paths_and_npv_have_them():
    sizes = (2, 2, 2, 1)
    terms, model = FourPaths(sizes, 0.5), relu_network(sizes, Gaussian(1.0), seeded(3))
    assert [tuple(path) for path in list_paths(model)] == [tuple(nodes) for nodes in terms.nodes.tolist()]
    flat = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
    torch.testing.assert_close(flat[terms.weights].prod(dim=1), npv(model))


@settings(max_examples=12)
@given(tiny, sigmas)
def test_n27_a_term_survives_where_every_layer_is_paired_and_is_then_worth_sigma_to_the_4_d_minus_4(
    sizes: tuple[int, ...], sigma: float
):
    """Proposition B.5."""
    terms = FourPaths(sizes, sigma)
    conditions = terms.condition_i() & terms.condition_ii()[None, :, :, None]
    depth = len(sizes) - 1
    assert torch.equal(terms.expectation != 0, conditions)
    assert terms.expectation[conditions].numpy() == pytest.approx(sigma ** (4 * (depth - 1)))


@settings(max_examples=12)
@given(tiny, sigmas, st.integers(0, 2**31 - 1))
def test_n27_base_terms_make_the_squared_mean_and_the_others_the_variance(
    sizes: tuple[int, ...], sigma: float, seed: int
):
    """Proposition B.6, and the first lines of the proof of Theorem B.2."""
    terms = FourPaths(sizes, sigma)
    left, right = torch.randn(2, len(terms.nodes), generator=seeded(seed), dtype=torch.float64)
    kernel = (terms.gradients @ left * (terms.gradients @ right)).sum(-1)
    each = torch.einsum("apqbrs,p,q,r,s->apqbrs", terms.expectation, left, right, left, right)
    base = torch.einsum("appbrr->", each)
    size = float(each.abs().sum())
    assert base.item() == pytest.approx(kernel.mean().item() ** 2, abs=1e-12 * size)
    assert (each.sum() - base).item() == pytest.approx(kernel.var(correction=0).item(), abs=1e-12 * size)


@settings(max_examples=6)
@given(tiny)
def test_n27_layouts_follow_each_other_as_table_3_says(sizes: tuple[int, ...]):
    terms = FourPaths(sizes, 0.5)
    for _, p, q, _, r, s in terms.survivors().tolist():
        layouts = [terms.layout((p, q, r, s), layer) for layer in range(terms.depth)]
        assert set(layouts) <= set(LAYOUTS)
        for current, following in pairwise(layouts):
            assert following in TABLE_3[current]


def test_more_weights_than_can_be_tried_are_refused():
    with pytest.raises(PenstockError, match="30 weights have too many signs"):
        FourPaths((2, 10, 1), 0.5)
    with pytest.raises(PenstockError, match="one output"):
        FourPaths((2, 2, 2), 0.5)
