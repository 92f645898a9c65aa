from torch import nn

from networks.awkward import Tied, TwoInputs
from penstock import adapt
from penstock.model import describe, layers


def test_a_shared_layer_is_listed_once_under_its_first_path():
    paths = [path for path, _ in layers(Tied())]
    assert paths == ["", "a", "b", "block", "block.0", "block.1"]


def test_the_model_inside_an_adapted_one_is_listed_too():
    inner = TwoInputs()
    found = list(layers(nn.Sequential(adapt(inner, lambda model, batch: model(batch, 1.0)["logits"]))))
    assert ("0", inner) in found
    assert "0.head" in dict(found)


def test_a_layer_is_described_by_its_path_and_type_and_the_outermost_as_the_model():
    assert describe("blocks.2.norm", nn.BatchNorm2d(3)) == "the layer blocks.2.norm (BatchNorm2d)"
    assert describe("", nn.Linear(1, 1)) == "the model (Linear)"
