"""Weights drawn afresh: as each layer draws its own, or by a law; shared and derived weights too."""

import copy
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrizations, prune

from decoupled.cases import small_convolutions, two_layers
from networks.residual import ResNet18
from penstock import PenstockError
from penstock.decoupled.redrawing import redrawn
from penstock.lab.models.initialization import LAWS


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def disturbed(module: nn.Module) -> nn.Module:
    """As after some training."""
    with torch.no_grad():
        for tensor in (*module.parameters(), *module.buffers()):
            if tensor.is_floating_point():
                tensor.mul_(3).add_(1)
    return module


def drawn(model: Any, law: Any, generator: torch.Generator | None) -> Any:
    """What `redrawn` makes of it, with the attributes that the model has."""
    return redrawn(model, law, generator)


MODULES: dict[str, Callable[[], nn.Module]] = {
    "fully connected": two_layers,
    "convolutions": lambda: small_convolutions(norm=True),
    "ResNet-18": lambda: ResNet18(4),
    "transposed": lambda: nn.ConvTranspose2d(2, 3, 3),
    "bilinear": lambda: nn.Bilinear(2, 3, 4),
    "embedding": lambda: nn.Embedding(5, 3, padding_idx=0),
    "BatchNorm": lambda: nn.BatchNorm2d(3),
    "BatchNorm without parameters": lambda: nn.BatchNorm2d(3, affine=False),
    "LayerNorm": lambda: nn.LayerNorm(3),
    "GroupNorm": lambda: nn.GroupNorm(1, 3),
    "InstanceNorm": lambda: nn.InstanceNorm2d(3, affine=True, track_running_stats=True),
    "RMSNorm": lambda: nn.RMSNorm(3),
    "PReLU": lambda: nn.PReLU(3),
    "LSTM": lambda: nn.LSTM(3, 4, bidirectional=True),
    "GRU": lambda: nn.GRU(3, 4),
    "attention": lambda: nn.MultiheadAttention(4, 2),
    "attention, other widths": lambda: nn.MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True),
    "a transformer's layer": lambda: nn.TransformerEncoderLayer(4, 2, 8),
}


@pytest.mark.parametrize("name", MODULES)
def test_a_redrawn_module_is_as_freshly_made(name: str):
    """With the same random state, to the bit: parameters and running statistics."""
    torch.manual_seed(5)
    fresh = MODULES[name]()
    module = disturbed(MODULES[name]())
    torch.manual_seed(5)
    assert drawn(module, None, None) is module
    for key, tensor in fresh.state_dict().items():
        assert torch.equal(module.state_dict()[key], tensor), key


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("law", [None, nn.init.xavier_uniform_, LAWS["he"]], ids=["own", "torch's", "ours"])
def test_a_generator_makes_it_reproducible_and_leaves_torchs_state_alone(name: str, law: Any):
    modules = [disturbed(MODULES[name]()) for _ in range(2)]
    state = torch.get_rng_state()
    for module in modules:
        drawn(module, law, seeded(3))
    assert torch.equal(torch.get_rng_state(), state)
    for key, tensor in modules[0].state_dict().items():
        assert torch.equal(modules[1].state_dict()[key], tensor), key


def test_a_law_fills_weights_and_biases_begin_at_zero():
    model: Any = disturbed(small_convolutions(norm=True))
    drawn(model, partial(nn.init.constant_, val=0.25), None)
    for name, tensor in model.named_parameters():
        norm = name.startswith("1.")
        wanted = 0.25 if tensor.ndim > 1 else float(norm and name.endswith("weight"))
        assert torch.equal(tensor, torch.full_like(tensor, wanted)), name
    assert model[1].running_var.eq(1).all()
    assert model[1].running_mean.eq(0).all()


LAW_FORMS = {
    "in torch": nn.init.kaiming_normal_,
    "with a generator": lambda weight, generator=None: weight.normal_(generator=generator),
    "without one": lambda weight: weight.normal_(),
    "of torch, partly given": partial(nn.init.normal_, std=0.1),
    "orthogonal": nn.init.orthogonal_,
    "ours": LAWS["glorot uniform"],
}


@pytest.mark.parametrize("form", LAW_FORMS)
def test_a_law_may_take_a_generator_or_not(form: str):
    weights = []
    for seed in (1, 1, 2):
        model = drawn(two_layers(), LAW_FORMS[form], seeded(seed))
        weights.append(torch.cat([parameter.flatten() for parameter in model.parameters()]))
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_the_padding_of_an_embedding_stays_zero_under_a_law():
    embedding = drawn(nn.Embedding(5, 3, padding_idx=2), nn.init.normal_, None)
    assert embedding.weight[2].eq(0).all()
    assert embedding.weight[1].ne(0).all()


# weights that are shared


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(700, 30)
        self.linear = nn.Linear(30, 700)
        self.linear.weight = self.embedding.weight


@pytest.mark.parametrize("law", [None, nn.init.xavier_uniform_])
def test_a_shared_weight_is_drawn_once_and_stays_shared(law: Any):
    model = drawn(Decoder(), law, seeded())
    weight = model.embedding.weight
    assert model.linear.weight is weight
    # by its first owner's law: standard normal
    wanted = 1.0 if law is None else (2 / 730) ** 0.5
    assert weight.std().item() == pytest.approx(wanted, rel=0.05)


# weights that are derived


def old_weight_norm(module: nn.Module) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        nn.utils.weight_norm(module)


def prune_half(module: nn.Module) -> None:
    prune.random_unstructured(module, "weight", 0.5)
    prune.random_unstructured(module, "bias", 0.5)


DERIVING: dict[str, Callable[[nn.Module], object]] = {
    "weight norm, old": old_weight_norm,
    "weight norm": parametrizations.weight_norm,
    "weight norm of rows": partial(parametrizations.weight_norm, dim=1),
    "pruning": prune_half,
}


@pytest.mark.parametrize("way", DERIVING)
@pytest.mark.parametrize("law", [None, nn.init.xavier_uniform_])
def test_a_derived_weight_is_drawn_as_the_plain_layer_draws_it(way: str, law: Any):
    model, plain = two_layers(), drawn(two_layers(), law, seeded(1))
    DERIVING[way](model[2])
    model(torch.randn(3, 4))
    keys = list(model.state_dict())
    drawn(model, law, seeded(1))
    assert list(model.state_dict()) == keys
    model(torch.randn(3, 4))
    kept = model[2].weight_mask if way == "pruning" else torch.ones(6, 6)
    torch.testing.assert_close(model[2].weight, plain[2].weight * kept)


@pytest.mark.parametrize(
    "derive", [nn.utils.spectral_norm, parametrizations.spectral_norm, parametrizations.orthogonal]
)
def test_what_a_parametrization_promises_holds_of_the_fresh_weight(derive: Callable[[nn.Module], nn.Module]):
    torch.manual_seed(0)
    model: Any = two_layers()
    derive(model[2])
    model(torch.randn(3, 4))
    before = model[2].weight.detach().clone()
    drawn(model, None, seeded(1))
    for _ in range(50):
        model(torch.randn(3, 4))
    weight = model[2].weight.detach()
    assert not torch.allclose(weight, before, atol=1e-2)
    assert torch.linalg.matrix_norm(weight, 2).item() == pytest.approx(1, abs=1e-3)
    if derive is parametrizations.orthogonal:
        torch.testing.assert_close(weight @ weight.T, torch.eye(6), rtol=0, atol=1e-5)


def test_another_copy_of_a_parametrized_layer_is_left_alone():
    """Copies share the class that torch made for the parametrization."""
    model = two_layers()
    parametrizations.weight_norm(model[2])
    other, x = copy.deepcopy(model), torch.randn(3, 4)
    wanted = other(x)
    drawn(model, None, seeded())
    assert torch.equal(other(x), wanted)


def test_a_parametrization_that_cannot_be_undone_is_refused():
    class Squared(nn.Module):
        def forward(self, weight: Tensor) -> Tensor:
            return weight.square()

    model = two_layers()
    nn.utils.parametrize.register_parametrization(model[2], "weight", Squared())
    with pytest.raises(PenstockError, match=r"the layer 2 .* derives its weight in a way that cannot"):
        drawn(model, None, None)


# layers of the user's own


class Own(nn.Module):
    """A weight, a scale and a linear layer."""

    def __init__(self):
        super().__init__()
        self.weight, self.scale = nn.Parameter(torch.randn(3, 3)), nn.Parameter(torch.full((3,), 7.0))
        self.inner = nn.Linear(3, 3)


class Resetting(Own):
    def reset_parameters(self) -> None:
        nn.init.constant_(self.weight, 2)
        self.scale.data.fill_(1)  # as older code writes it
        nn.init.constant_(self.inner.weight, 5)


@pytest.mark.parametrize(
    ("law", "weight", "inner"), [(None, 2.0, 5.0), (partial(nn.init.constant_, val=0.5), 0.5, 0.5)]
)
def test_a_layer_that_draws_for_its_children_has_the_last_word(law: Any, weight: float, inner: float):
    model = drawn(disturbed(Resetting()), law, seeded())
    assert model.get_parameter("weight").eq(weight).all()
    assert model.get_parameter("scale").eq(1).all()
    assert model.get_parameter("inner.weight").eq(inner).all()


@pytest.mark.parametrize(
    ("law", "says"),
    [
        (
            None,
            r"the model \(Own\) has a parameter weight of its own .*, or a law: init=",
        ),
        (
            nn.init.xavier_uniform_,
            r"\(Own\) has a parameter scale of its own .*; give it that method$",
        ),
    ],
)
def test_what_nobody_knows_how_to_draw_is_refused(law: Any, says: str):
    with pytest.raises(PenstockError, match=says):
        drawn(Own(), law, seeded())


@pytest.mark.parametrize(
    ("law", "says"),
    [
        ("xavier", "init='xavier' is no law; give a function that fills a weight in place"),
        (
            lambda weight: torch.randn_like(weight),
            "init=<lambda> returns a new tensor, and a law fills",
        ),
        (lambda weight: weight.fill_(torch.inf), "init=<lambda> filled a weight with what is not finite"),
    ],
)
def test_what_is_no_law_is_refused(law: Any, says: str, as_a_user_runs_it: None):
    with pytest.raises(PenstockError, match=says):
        drawn(two_layers(), law, None)


def test_what_is_no_generator_is_refused(as_a_user_runs_it: None):
    with pytest.raises(PenstockError, match=r"generator= takes a torch.Generator, not int"):
        drawn(two_layers(), None, 3)  # pyright: ignore[reportArgumentType]
