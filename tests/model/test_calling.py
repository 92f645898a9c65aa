"""torch's own refusals, told in one sentence that names the layer and both sizes."""

import pytest
import torch
from torch import nn

from networks.awkward import TwoInputs
from penstock import PenstockError
from penstock.model import call


class ByHand(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3, 4))

    def forward(self, x):
        return x @ self.weight


class OwnSentence(nn.Module):
    def forward(self, x):
        raise ValueError("the size of x must be even")


class Nothing(nn.Module):
    def forward(self):
        return torch.ones(1)


def images(*more):
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 6 * 6, 2), *more)


def test_a_call_is_the_models_own():
    model = nn.Linear(3, 2)
    x = torch.randn(5, 3)
    assert torch.equal(call(model, x), model(x))


@pytest.mark.parametrize(
    ("model", "shape", "sentence"),
    [
        (
            nn.Linear(3, 2),
            (5, 4),
            r"the model \(Linear\) takes 3 features and is given 4 \(x has shape 5×4\)",
        ),
        (
            nn.Sequential(nn.ReLU(), nn.Linear(3, 2)),
            (5, 4),
            r"the layer 1 \(Linear\) takes 3 features and is given 4",
        ),
        (
            images(),
            (2, 1, 8, 8),
            r"the layer 0 \(Conv2d\) takes 3 channels and is given 1 \(x has shape 2×1×8×8\)",
        ),
        (
            images(),
            (2, 3, 9, 9),
            r"the layer 3 \(Linear\) takes 144 features and is given 196 \(x has shape 2×3×9×9\)",
        ),
        (
            images(),
            (2, 3, 2, 2),
            r"the layer 0 \(Conv2d\) cannot take an input of shape 2×3×2×2 .*: Calculated padded",
        ),
        (images(), (2, 3), r"the layer 0 \(Conv2d\) cannot take an input of shape 2×3"),
        (
            nn.Sequential(nn.BatchNorm2d(3)).eval(),
            (2, 3),
            r"the layer 0 \(BatchNorm2d\) cannot take an input of shape 2×3",
        ),
        (
            nn.Sequential(nn.BatchNorm1d(3)).eval(),
            (2, 4),
            r"the layer 0 \(BatchNorm1d\) takes 3 channels and is given 4",
        ),
        (
            nn.Sequential(nn.LayerNorm(3)),
            (2, 4),
            r"the layer 0 \(LayerNorm\) takes 3 features and is given 4",
        ),
        (nn.GRU(3, 2), (2, 5, 4), r"the model \(GRU\) takes 3 features and is given 4"),
        (
            ByHand(),
            (5, 2),
            r"the model \(ByHand\) cannot be computed at line \d+ of test_calling.py \(x has shape 5×2\)",
        ),
    ],
)
def test_a_wrong_size_names_the_layer_and_both_sizes(model, shape, sentence):
    with pytest.raises(PenstockError, match=sentence) as caught:
        call(model, torch.ones(shape))
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is not None


def test_what_the_model_says_itself_is_not_touched():
    with pytest.raises(ValueError, match=r"^the size of x must be even$") as caught:
        call(OwnSentence(), torch.ones(1, 3))
    assert not isinstance(caught.value, PenstockError)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (
            TwoInputs(),
            r"the forward of TwoInputs takes 2 arguments \(image, scale\), .* penstock.adapt\(model, lambda",
        ),
        (nn.Bilinear(2, 2, 2), r"the forward of Bilinear takes 2 arguments \(input1, input2\)"),
        (Nothing(), "the forward of Nothing takes no argument"),
    ],
)
def test_a_model_that_takes_anything_but_one_batch_is_told_about_adapt(model, sentence):
    with pytest.raises(PenstockError, match=sentence):
        call(model, torch.ones(2, 4))


def test_optional_arguments_are_no_obstacle():
    model = nn.TransformerEncoderLayer(4, 1, 4, dropout=0.0)
    assert call(model, torch.ones(2, 3, 4)).shape == (2, 3, 4)
