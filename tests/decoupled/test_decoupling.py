"""`decouple`: what the pair gives, what it leaves alone, and what it refuses."""

import copy
import warnings
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations, prune

from decoupled.cases import NETWORKS, made, redraw, small_convolutions, two_layers
from networks import awkward, hidden
from oracle import decoupled as oracle
from penstock import Hard, PenstockError, Soft, adapt, capture, decouple

X = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("name", NETWORKS)
def test_a_pair_of_copies_gives_the_models_outputs_to_the_bit(name: str):
    model, x = made(name)
    kept = x.clone()
    pair = decouple(model)
    # with gradients: without, a transformer's layer takes a fused way of its own
    wanted = copy.deepcopy(model)(x.clone())
    assert torch.equal(pair(x), wanted)
    assert torch.equal(pair(x), wanted)
    assert torch.equal(x, kept)


# the oracle knows ReLU, LeakyReLU and max-pooling as functions of torch.nn.functional
BY_FUNCTIONS = [
    "images",
    "small convolutions",
    "one ReLU object for all",
    "concatenating",
    "ResNet-18",
    "LeakyReLU",
]


@pytest.mark.parametrize("name", BY_FUNCTIONS)
@pytest.mark.parametrize("seed", range(3))
def test_redrawn_values_pass_the_models_gates(name: str, seed: int):
    model, x = made(name, seed)
    model, x = model.double(), x.double()
    pair = decouple(model)
    redraw(pair.value, seed)
    wanted = oracle.gated(pair.value, x, oracle.gates_of(model, x))
    torch.testing.assert_close(pair(x), wanted, rtol=1e-10, atol=1e-12)
    assert not torch.allclose(wanted, model(x))


@pytest.mark.parametrize("name", sorted(set(NETWORKS) - {"experts", "branching", "written into out="}))
def test_redrawn_values_pass_the_gates_that_a_record_holds(name: str):
    """The same by another way: the model's record, held in the redrawn network."""
    model, x = made(name)
    pair = decouple(model)
    redraw(pair.value, 1)
    record = capture(pair, x)
    own = capture(model, x)
    assert [each for each in record if each.startswith("value.")] == [f"value.{each}" for each in own]
    for each, layer in own.items():
        assert torch.equal(record[f"value.{each}"].to_dense(), layer.to_dense()), each


@pytest.mark.parametrize("name", NETWORKS)
def test_each_network_has_the_models_parameters_by_the_models_names(name: str):
    model, _ = made(name)
    pair = decouple(model)
    assert [child for child, _ in pair.named_children()] == ["feature", "value"]
    state = model.state_dict()
    for part in (pair.feature, pair.value):
        assert list(part.state_dict()) == list(state)
        assert all(torch.equal(tensor, state[key]) for key, tensor in part.state_dict().items())
    shared = {id(each) for each in model.parameters()} & {id(each) for each in pair.parameters()}
    assert not shared


def test_the_model_is_left_alone():
    model = small_convolutions(norm=True).train()
    before = copy.deepcopy(model.state_dict())
    pair = decouple(model, Soft())
    pair(torch.randn(5, 1, 8, 8)).sum().backward()
    assert all(torch.equal(tensor, before[key]) for key, tensor in model.state_dict().items())
    assert all(parameter.grad is None and parameter.requires_grad for parameter in model.parameters())
    assert model.training
    assert not model._forward_hooks


def test_an_adapted_model_keeps_its_own_names():
    model = awkward.TwoInputs()
    adapted = adapt(model, lambda model, batch: model(batch, 2.0)["logits"])
    pair = decouple(adapted)
    assert torch.equal(pair(X), adapted(X))
    assert list(pair.state_dict()) == [
        f"{part}.{key}" for part in ("feature", "value") for key in model.state_dict()
    ]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_compiled_model_is_decoupled_as_what_it_was_compiled_from():
    model = two_layers()
    compiled: Any = torch.compile(model)
    pair = decouple(compiled)
    assert list(pair.feature.state_dict()) == list(model.state_dict())
    assert torch.equal(pair(X), model(X))


def old_weight_norm(module: nn.Module) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        nn.utils.weight_norm(module)


DERIVING = {
    "weight norm, old": old_weight_norm,
    "weight norm": parametrizations.weight_norm,
    "spectral norm, old": nn.utils.spectral_norm,
    "spectral norm": parametrizations.spectral_norm,
    "orthogonal": parametrizations.orthogonal,
    "pruning": lambda module: prune.random_unstructured(module, "weight", 0.5),
}


@pytest.mark.parametrize("way", DERIVING)
def test_derived_weights_are_derived_anew_in_each_network(way: str):
    torch.manual_seed(0)
    model = two_layers()
    DERIVING[way](model[2])
    model(X)  # keeps a weight that autograd computed
    model.eval()
    pair = decouple(model, train="value")
    assert torch.equal(pair(X), model(X))
    before = pair(X).detach().clone()
    redraw(pair.value, 3)
    after = pair(X)
    assert not torch.allclose(after, before)
    after.sum().backward()
    learning = [name for name, each in pair.value.named_parameters() if each.grad is not None]
    assert learning == [name for name, _ in model.named_parameters()]


# what requires gradients


@pytest.mark.parametrize(
    ("train", "parts"), [("both", {"feature", "value"}), ("value", {"value"}), ("feature", {"feature"})]
)
def test_train_says_which_network_is_trained(train: str, parts: set[str]):
    pair = decouple(two_layers(), Soft(), train=train)  # pyright: ignore[reportArgumentType]
    learning = {name.split(".")[0] for name, each in pair.named_parameters() if each.requires_grad}
    assert learning == parts
    pair(X).sum().backward()
    moved = {name.split(".")[0] for name, each in pair.named_parameters() if each.grad is not None}
    assert moved == parts


def test_what_the_model_has_frozen_stays_frozen():
    model = two_layers()
    model[0].requires_grad_(False)
    frozen = [name for name, each in decouple(model).named_parameters() if not each.requires_grad]
    assert frozen == ["feature.0.weight", "feature.0.bias", "value.0.weight", "value.0.bias"]


# refusals


def rnn() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 4), nn.RNN(4, 4, nonlinearity="relu"))


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (lambda: nn.DataParallel(two_layers()), r"the model \(DataParallel\) runs in threads of its own"),
        (rnn, r"the layer 1 \(RNN\) hides the ReLUs"),
        (hidden.Scripted, r"the layer child \(RecursiveScriptModule\) is scripted or traced"),
        (lambda: hidden.Scripted(traced=True), "is scripted or traced"),
        (
            lambda: decouple(two_layers()),
            r"the model \(GatedNetwork\) is decoupled already; decouple",
        ),
        (lambda: nn.Sequential(decouple(two_layers())), r"the layer 0 \(GatedNetwork\) is decoupled already"),
        (lambda: torch.relu, "decouple takes a torch.nn.Module, not builtin_function_or_method"),
        (
            lambda: nn.Sequential(nn.LazyLinear(3)),
            r"the layer 0 \(LazyLinear\) has no weights before",
        ),
        (lambda: two_layers().to("meta"), "the model is on the meta device"),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_model_that_cannot_be_decoupled_is_refused_by_name(model, says: str, as_a_user_runs_it: None):
    with pytest.raises(PenstockError, match=says):
        decouple(model())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"gate": 4.0}, r"gate= takes a gate, such as Hard\(\) or Soft\(beta=4.0\), not 4.0"),
        ({"gate": Soft}, "gate= takes a gate"),
        ({"feature_gate": "soft"}, "feature_gate= takes a gate, .* not 'soft'"),
        ({"train": "values"}, "train='values' names no part; the nearest is value"),
        ({"train": ["value"]}, "names no part"),
        ({"pad": 0}, "pad=0 is no number of times; give 1 or a larger whole number"),
        ({"pad": 2.0}, "pad=2.0 is no number of times"),
        ({"pad": True}, "pad=True is no number of times"),
        ({"tied": "yes"}, "tied= is True or False, not 'yes'"),
        (
            {"tied": True, "train": "value"},
            "tied=True gives both networks one set of .* train='value'",
        ),
        ({"tied": True, "pad": 2}, "does not go with pad=2; leave one of the two out"),
        ({"tied": True, "gates": [torch.ones(5, 6)] * 2}, "does not go with gates="),
        ({"gate": Soft(), "gates": [torch.ones(5, 6)] * 2}, "nothing is read by gate= or feature_gate="),
        ({"feature_gate": Soft(), "gates": [torch.ones(5, 6)] * 2}, "nothing is read by gate="),
        ({"train": "feature", "gates": [torch.ones(5, 6)] * 2}, "gates= gives gates that are fixed"),
        ({"gates": torch.ones(5, 6)}, r"not Tensor; put it in a list: gates=\[…\]"),
        ({"gates": "abc"}, "gates= takes a module that emits gates, a record, or one tensor .* not str"),
        ({"gates": 3}, "not int"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict, says: str, as_a_user_runs_it: None):
    with pytest.raises(PenstockError, match=says):
        decouple(two_layers(), **arguments)


def test_what_cannot_be_copied_is_refused():
    class Uncopied(nn.Linear):
        def __deepcopy__(self, memo):
            raise TypeError("one of a kind")

    with pytest.raises(PenstockError, match=r"cannot be copied \(TypeError: one of a kind\)"):
        decouple(nn.Sequential(Uncopied(4, 2), nn.ReLU()))


def test_a_layer_without_gates_in_it_is_carried_along():
    """What is neither affine nor a gate stays as it is in both networks."""
    model = nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.ReLU(), nn.Softmax(1), nn.Linear(6, 2))
    assert torch.equal(decouple(model)(X), model(X))
    sigmoid = awkward.Called(lambda q: torch.sigmoid(q) * F.relu(q))
    assert torch.equal(decouple(sigmoid)(X), sigmoid(X))


def test_hard_is_the_gate_unless_told():
    pair = decouple(two_layers())
    assert (pair.gate, pair.feature_gate, pair.trained, pair.pad) == (Hard(), Hard(), "both", 1)
