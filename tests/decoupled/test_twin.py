"""The two parts of a decoupled network's gradient: D Section 3, Ψ = φᵀ ∂v + (∂φ)ᵀ v."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from networks.fully_connected import fully_connected
from penstock import Hard, PenstockError, Soft, decouple
from penstock.decoupled.twin import twin_gradient

SOFT = Soft(beta=2.0, epsilon=0.1)
STEP = 1e-6


def by_differences(pair, part, x, output):
    """One row an example: central differences by each entry of one network's parameters."""
    columns = []
    for parameter in getattr(pair, part).parameters():
        numbers = parameter.data.view(-1)
        for entry in range(len(numbers)):
            at = float(numbers[entry])
            ends = []
            for side in (STEP, -STEP):
                numbers[entry] = at + side
                ends.append(pair(x)[:, output].detach())
            numbers[entry] = at
            columns.append((ends[0] - ends[1]) / (2 * STEP))
    return torch.stack(columns, dim=1)


@settings(max_examples=10)
@given(
    widths=st.lists(st.integers(1, 4), min_size=3, max_size=4),
    bias=st.booleans(),
    soft_feature=st.booleans(),
    seed=st.integers(0, 99),
)
def test_both_parts_are_what_finite_differences_say(widths, bias, soft_feature, seed):
    model = fully_connected(*widths, bias=bias, seed=seed, dtype=torch.float64)
    # a feature network with ReLUs has kinks, which a difference may step over
    pair = decouple(model, SOFT, feature_gate=SOFT if soft_feature else Hard())
    x = 3 * torch.randn(2, widths[0], generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    output = widths[-1] - 1
    psi = twin_gradient(pair, x, output=output)
    for part, found in (("value", psi.values), ("feature", psi.gates)):
        torch.testing.assert_close(found, by_differences(pair, part, x, output), rtol=1e-5, atol=1e-6)


@given(widths=st.lists(st.integers(1, 5), min_size=3, max_size=5), seed=st.integers(0, 99))
def test_in_a_tied_pair_the_parts_add_up_to_the_gradient_of_the_one_network(widths, seed):
    model = fully_connected(*widths, seed=seed, dtype=torch.float64)
    x = torch.randn(3, widths[0], generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    psi = twin_gradient(decouple(model, SOFT, feature_gate=SOFT, tied=True), x)
    signal = x
    for layer in model:
        signal = signal * SOFT.value(signal) if isinstance(layer, torch.nn.ReLU) else layer(signal)
    rows = [torch.autograd.grad(y, list(model.parameters()), retain_graph=True) for y in signal[:, 0]]
    whole = torch.stack([torch.cat([each.flatten() for each in row]) for row in rows])
    torch.testing.assert_close(psi.values + psi.gates, whole, rtol=1e-9, atol=1e-12)


def test_hard_gates_have_no_part_of_their_own():
    model = fully_connected(3, 4, 1, dtype=torch.float64)
    psi = twin_gradient(decouple(model), torch.randn(2, 3, dtype=torch.float64))
    assert not psi.gates.any()
    assert psi.values.any()


def test_what_is_no_pair_or_has_no_such_output_is_refused():
    model = fully_connected(3, 4, 2, dtype=torch.float64)
    x = torch.randn(2, 3, dtype=torch.float64)
    with pytest.raises(PenstockError, match="there is no output 2"):
        twin_gradient(decouple(model), x, output=2)
