"""BatchNorm in evaluation mode: a scale γ/√(σ²+ε) that is a weight, and a shift β - μγ/√(σ²+ε) that is a
bias.
"""

import pytest
import torch
from torch import nn

from networks.convolutional import settled
from oracle.edges import assert_edges_are_the_module, edges_of, graph_and_sites
from penstock import PenstockError, list_paths, npv


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize(
    ("norm", "shape"),
    [(nn.BatchNorm1d, ()), (nn.BatchNorm1d, (3,)), (nn.BatchNorm2d, (2, 2)), (nn.BatchNorm3d, (2, 1, 2))],
)
def test_edges_are_the_normalization(norm, shape, affine):
    model = settled(nn.Sequential(norm(2, affine=affine, eps=0.1), nn.Flatten()))
    assert_edges_are_the_module(model, torch.randn(3, 2, *shape, dtype=torch.float64))


def test_scale_and_shift_are_a_weight_and_a_bias():
    norm = nn.BatchNorm1d(2)
    settled(norm)
    assert norm.running_var is not None
    assert norm.running_mean is not None
    _, (site,) = graph_and_sites(norm, torch.randn(2, 2, dtype=torch.float64))
    scale = norm.weight / (norm.running_var + norm.eps).sqrt()
    shift = norm.bias - norm.running_mean * scale
    edges = list(edges_of(site))
    assert [e.weight for e in edges if e.signal] == pytest.approx(scale.tolist(), rel=1e-14)
    assert [e.weight for e in edges if not e.signal] == pytest.approx(shift.tolist(), rel=1e-14)


def test_a_channel_has_one_scale_at_all_positions():
    model = settled(nn.Sequential(nn.BatchNorm1d(2), nn.Flatten(), nn.Linear(6, 1, bias=False)))
    paths = list_paths(model, input_shape=(2, 3))
    assert [str(path.weights[0]) for path in paths] == [
        f"0.{name}[{c}]" for name in ("scale", "shift") for c in (0, 0, 0, 1, 1, 1)
    ]


def test_without_affine_parameters_both_are_constants():
    model = settled(nn.BatchNorm1d(2, affine=False))
    paths = list_paths(model, input_shape=(2,))
    assert [path.weights[0].constant for path in paths] == pytest.approx(
        npv(model, input_shape=(2,)).tolist()
    )


def test_two_statistics_for_one_scale_parameter_are_two_scales():
    class Split(nn.Module):
        """One γ, with statistics of its own for each of two branches."""

        def __init__(self):
            super().__init__()
            self.one, self.other = nn.BatchNorm1d(2), nn.BatchNorm1d(2)
            self.other.weight = self.one.weight

        def forward(self, x):
            return self.one(x) + self.other(x)

    model = settled(Split())
    x = torch.randn(3, 2, dtype=torch.float64)
    assert_edges_are_the_module(model, x)
    assert len({letter for path in list_paths(model, input_shape=(2,)) for letter in path.weights}) == 2
    assert len(list_paths(model, input_shape=(2,)).bundles) == 4


def test_training_mode_is_refused():
    with pytest.raises(PenstockError, match=r"call model.eval\(\) first"):
        npv(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).train())
