"""The functions whose sign is a gate's state."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from penstock.gates.along import crossing
from penstock.gates.kinds import AdaptiveChoice, Choice, Clipped, Magnitude, Rectifier


def along_a_line(kind, *shape: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Crossing functions and pre-activations at 50 places between two random tensors."""
    generator = torch.Generator().manual_seed(seed)
    start, end = torch.randn(2, *shape, generator=generator, dtype=torch.float64)
    q = torch.stack([torch.lerp(start, end, t) for t in torch.linspace(0, 1, 50, dtype=torch.float64)])
    values = crossing.kept(kind, q)
    return crossing.functions(kind, values.shape[-1], values.reshape(1, len(q), -1))[0] > 0, q


@pytest.mark.parametrize("kind", [Rectifier(), Rectifier(0.1), Magnitude()])
def test_a_rectifiers_state_is_the_sign_of_q(kind):
    above, q = along_a_line(kind, 7)
    assert torch.equal(above, kind.read(q))


def test_a_clipped_units_state_is_on_which_side_of_both_ends_it_is():
    kind = Clipped(-0.5, 0.5)
    above, q = along_a_line(kind, 7)
    past_low, past_high = above.unflatten(1, (2, 7)).unbind(1)
    assert torch.equal(past_low & ~past_high, kind.read(q) == Clipped.OPEN)
    assert torch.equal(past_high, kind.read(q) == Clipped.HELD)


choices = st.sampled_from(
    [
        Choice.of(1, 3, 1, 1),
        Choice.of(2, 2),
        Choice.of(2, 3, 2, 1),
        Choice.of(2, (2, 3), (1, 2), (1, 0), (2, 1)),
        Choice.of(2, 3, 2, 0, 1, True),
        Choice.of(3, 2),
        AdaptiveChoice.of(2, 3),
        AdaptiveChoice.of(1, 4),
    ]
)


@given(choices, st.integers(0, 1000))
def test_a_choice_changes_only_where_an_entry_passes_the_first_chosen(kind, seed: int):
    above, q = along_a_line(kind, 2, *[6] * kind.dims, seed=seed)
    windows = kind.read(q).flatten(1, -2)
    same = (windows == windows[:1]).all(-1)
    nothing_passes = ~above.unflatten(1, (windows.shape[1], -1)).any(-1)
    assert (same | ~nothing_passes).all()
    if isinstance(
        kind, Choice
    ):  # adaptive windows are as long as the longest here, and reach into their neighbors
        assert torch.equal(same, nothing_passes)


def test_the_entries_of_windows_are_torchs_own():
    q = torch.randn(2, 3, 7, 6)
    kind = Choice.of(2, 3, 2, 1, 1)
    expected = F.unfold(F.pad(q, (1, 1, 1, 1), value=-math.inf).reshape(6, 1, 9, 8), 3, stride=2)
    entries = crossing.kept(kind, q)
    assert torch.equal(entries.reshape(6, -1, 9), expected.transpose(1, 2))


def test_distance_is_the_way_to_the_nearest_change_and_zero_itself_is_far():
    def of(kind, *values: float) -> float:
        return crossing.distance(kind, 3, torch.tensor([values])).item()

    assert of(Rectifier(), -2.0, 0.5, 0.0) == 0.5
    assert of(Rectifier(), -2.0, 1.0, 3.0) == 1.0
    assert of(Rectifier(), 0.0) == math.inf
    assert of(Clipped(0.0, 1.0), -2.0, 0.75, 1.5) == 0.25
    assert of(Choice.of(1, 3), 1.0, 3.0, 2.5) == 0.5
    assert of(Choice.of(1, 3), 0.0, 0.0, -math.inf) == math.inf
