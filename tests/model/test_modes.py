"""Training mode is refused where, and only where, something depends on it."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

from penstock import PenstockError, adapt
from penstock.model import check


class DropPath(nn.Module):
    """A layer of the user's whose code asks for the mode."""

    def forward(self, x):
        return x * torch.rand(len(x), 1) if self.training else x


class Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return self.helper(self.layer(x))

    def helper(self, x):
        return (lambda q: F.dropout(q, 0.5, self.training))(x)


class Counting(nn.Module):
    """Speaks of the mode, and computes nothing by it."""

    def train(self, mode: bool = True):
        self.training = mode
        return super().train(mode)

    def extra_repr(self):
        return f"training={self.training}"

    def forward(self, x):
        return torch.relu(x)


class AskingHook:
    def __call__(self, module, args, y):
        return y if module.training else -y


def hooked():
    layer = nn.Linear(2, 2)
    layer.register_forward_hook(AskingHook())
    return layer


DEPENDING = {
    "gates depend on the whole batch": [nn.BatchNorm1d(2), nn.BatchNorm2d(2), nn.SyncBatchNorm(2)],
    "it draws at random": [
        nn.Dropout(0.1),
        nn.Dropout2d(),
        nn.AlphaDropout(),
        nn.FeatureAlphaDropout(),
        nn.RReLU(),
        nn.LSTM(2, 2, num_layers=2, dropout=0.1),
        nn.MultiheadAttention(2, 1, dropout=0.1),
        nn.TransformerEncoderLayer(2, 1, 2),
    ],
    "it updates its running statistics": [nn.InstanceNorm1d(2, track_running_stats=True)],
    "its own code does something else": [DropPath(), Functional(), hooked(), spectral_norm(nn.Linear(2, 2))],
}

INDIFFERENT = [
    nn.Linear(2, 2),
    nn.LayerNorm(2),
    nn.GroupNorm(1, 2),
    nn.InstanceNorm1d(2),
    nn.Dropout(0.0),
    nn.RReLU(0.2, 0.2),
    nn.LSTM(2, 2, dropout=0.0),
    nn.MultiheadAttention(2, 1),
    nn.TransformerEncoderLayer(2, 1, 2, dropout=0.0),
    Counting(),
    nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.MaxPool1d(2)),
]


@pytest.mark.parametrize(
    ("layer", "reason"),
    [
        pytest.param(layer, reason, id=type(layer).__name__)
        for reason, layers in DEPENDING.items()
        for layer in layers
    ],
)
def test_a_layer_that_depends_on_training_mode_is_refused_in_it_and_taken_in_evaluation_mode(layer, reason):
    model = nn.Sequential(nn.Identity(), nn.Sequential(layer))
    with pytest.raises(
        PenstockError, match=rf"the layer 1\.0.* is in training mode, where {reason}; call model.eval"
    ):
        check(model.train())
    check(model.eval())


@pytest.mark.parametrize("layer", INDIFFERENT, ids=lambda layer: type(layer).__name__)
def test_a_layer_that_does_not_is_taken_in_training_mode(layer):
    check(nn.Sequential(layer).train())


def test_the_mode_that_counts_is_the_layers_own():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).train()
    model[1].eval()
    check(model)
    model.eval()
    model[1].train()
    with pytest.raises(PenstockError, match=r"the layer 1 \(BatchNorm1d\) is in training mode"):
        check(model)


def test_batch_norm_without_running_statistics_is_refused_in_either_mode():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2, track_running_stats=False)).eval()
    with pytest.raises(PenstockError, match=r"the layer 1 \(BatchNorm1d\) keeps no running statistics"):
        check(model)


def test_the_model_inside_an_adapted_one_is_asked_too():
    adapted = adapt(Functional().train(), lambda model, batch: model(batch))
    with pytest.raises(PenstockError, match=r"the model \(Functional\) is in training mode"):
        check(adapted)
    check(adapted.eval())
