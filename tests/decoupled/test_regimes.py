"""The four regimes of N Section 4: who is whose copy, who is drawn, what is trained."""

from typing import Any

import pytest
import torch
from torch import nn

from decoupled.cases import small_convolutions, two_layers
from networks import awkward
from penstock import GatedNetwork, Hard, PenstockError, Soft, adapt, regime
from penstock.lab.models.initialization import LAWS

X = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
NAMES = ["dlnpf", "flnpf", "frnpf-ii", "frnpf-di"]


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def made(model: nn.Module, name: Any, seed: int = 0, **options: Any) -> GatedNetwork:
    if name == "flnpf":
        options.setdefault("trained", model)
    return regime(model, name, generator=seeded(seed), **options)


def same(one: nn.Module, other: nn.Module) -> bool:
    pairs = list(zip(one.parameters(), other.parameters(), strict=True))
    alike = [torch.equal(a, b) for a, b in pairs]
    assert all(alike) or not any(alike)
    return all(alike)


@pytest.mark.parametrize(
    ("name", "feature_is_the_models", "value_is_the_features", "gate", "trained"),
    [
        ("dlnpf", False, False, Soft(), "both"),
        ("flnpf", True, False, Hard(), "value"),
        ("frnpf-ii", False, False, Hard(), "value"),
        ("frnpf-di", False, True, Hard(), "value"),
    ],
)
def test_who_is_whose_copy_and_what_is_trained(
    name: str, feature_is_the_models: bool, value_is_the_features: bool, gate: Any, trained: str
):
    model = two_layers()
    pair = made(model, name)
    assert same(pair.feature, model) is feature_is_the_models
    assert same(pair.value, pair.feature) is value_is_the_features
    assert not same(pair.value, model)
    assert (pair.gate, pair.feature_gate, pair.trained) == (gate, Hard(), trained)
    assert pair.gates_are_fixed is (trained == "value")
    learning = {name.split(".")[0] for name, each in pair.named_parameters() if each.requires_grad}
    assert learning == ({"feature", "value"} if trained == "both" else {"value"})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "law", [None, *LAWS.values(), nn.init.xavier_uniform_], ids=["own", *LAWS, "torch's"]
)
def test_a_generator_makes_it_reproducible_and_leaves_torchs_state_alone(name: str, law: Any):
    model = small_convolutions(norm=True)
    state = torch.get_rng_state()
    pairs = [made(model, name, seed, init=law) for seed in (1, 1, 2)]
    assert torch.equal(torch.get_rng_state(), state)
    for key, tensor in pairs[0].state_dict().items():
        assert torch.equal(pairs[1].state_dict()[key], tensor)
    assert not torch.equal(pairs[0].value.get_parameter("0.weight"), pairs[2].value.get_parameter("0.weight"))


def test_without_a_generator_the_numbers_are_torchs_own():
    model, pairs = two_layers(), []
    for _ in range(2):
        torch.manual_seed(1)
        pairs.append(regime(model, "dlnpf"))
    assert torch.equal(pairs[0](X), pairs[1](X))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_trained_may_be_another_network_of_the_architecture():
    trained = two_layers()
    for each in (trained, torch.compile(trained)):
        pair = made(two_layers(), "flnpf", trained=each)
        assert same(pair.feature, trained)
    own = made(two_layers(), "flnpf", trained=trained.double())
    assert own.feature.get_parameter("0.weight").dtype == torch.float32


def test_an_adapted_model_takes_its_gates_from_the_adapted_or_the_plain_one():
    model = awkward.TwoInputs()
    adapted = adapt(model, lambda model, batch: model(batch, 2.0)["logits"])
    outputs = [made(adapted, "flnpf", trained=each)(X) for each in (adapted, model)]
    assert torch.equal(outputs[0], outputs[1])


def test_the_value_networks_running_statistics_are_fresh_and_the_features_are_the_trained_ones():
    model = small_convolutions(norm=True).train()
    for _ in range(3):
        model(2 + torch.randn(6, 1, 8, 8))
    pair = made(model, "flnpf")
    assert pair.value.get_buffer("1.num_batches_tracked") == 0
    assert pair.value.get_buffer("1.running_mean").eq(0).all()
    assert torch.equal(pair.feature.get_buffer("1.running_mean"), model.get_buffer("1.running_mean"))


@pytest.mark.parametrize("name", NAMES[1:])
def test_in_training_the_gates_stand_still(name: str):
    torch.manual_seed(0)
    pair = made(two_layers(), name).train()
    before = [each.detach().clone() for each in pair.feature.parameters()]
    optimizer = torch.optim.Adam(pair.parameters(), lr=0.05)
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        loss = pair(X).sub(1).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2
    assert all(torch.equal(a, b) for a, b in zip(before, pair.feature.parameters(), strict=True))


def test_the_frozen_regimes_take_any_gate():
    assert made(two_layers(), "frnpf-ii", gate=Soft(8.0)).gate == Soft(8.0)
    assert made(two_layers(), "dlnpf", gate=Soft(8.0)).gate == Soft(8.0)


def deeper() -> nn.Module:
    return nn.Sequential(*two_layers(), nn.ReLU(), nn.Linear(2, 2))


def leaky(slope: float) -> nn.Module:
    return nn.Sequential(nn.Linear(4, 6), nn.LeakyReLU(slope), nn.Linear(6, 2))


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("dlnfp", {}, "there is no regime called 'dlnfp'; the nearest are dlnpf, flnpf"),
        ("ReLU", {}, "there is no regime called 'ReLU'; there are dlnpf"),
        (["dlnpf"], {}, "there is no regime called"),
        ("flnpf", {}, "the regime 'flnpf' takes its gates from a trained network; name it: trained=model"),
        ("dlnpf", {"trained": two_layers()}, "the regime 'dlnpf' draws its gates .*; leave trained= out"),
        ("flnpf", {"trained": deeper()}, "trained= is a Sequential whose architecture is not the model's"),
        ("flnpf", {"trained": awkward.Loop()}, r"trained= is a Loop .*Unexpected key"),
        (
            "flnpf",
            {"trained": two_layers().state_dict()},
            "trained= takes a torch.nn.Module, not Ordered",
        ),
        (
            "dlnpf",
            {"gate": Hard()},
            "learns its gates, and no derivative goes through hard ones",
        ),
        ("dlnpf", {"gate": "soft"}, "gate= takes a gate"),
        ("dlnpf", {"generator": 3}, "generator= takes a torch.Generator, not int"),
        ("dlnpf", {"init": "he"}, "init='he' is no law"),
    ],
)
def test_wrong_arguments_are_refused(name: Any, options: dict[str, Any], says: str, as_a_user_runs_it: None):
    with pytest.raises(PenstockError, match=says):
        regime(two_layers(), name, **options)


def test_a_network_with_other_slopes_is_another_architecture():
    with pytest.raises(PenstockError, match=r"LeakyReLU\(negative_slope=0.3\) in place of \(1\): Leaky"):
        regime(leaky(0.1), "flnpf", trained=leaky(0.3))


@pytest.mark.parametrize("name", NAMES)
def test_a_frozen_model_has_no_value_network_to_train(name: str):
    model = two_layers().requires_grad_(False)
    with pytest.raises(PenstockError, match=r"call model.requires_grad_\(True\) first"):
        made(model, name)
