"""`record.verify`: with its gates held, a network is affine; a gate that was missed bends it."""

import copy

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils import parametrizations, prune
from torch.utils.data import DataLoader, TensorDataset

from networks.awkward import (
    AliasedInPlace,
    Branching,
    Called,
    Checkpointed,
    Folded,
    Forms,
    Loop,
    Nested,
    PositiveWeights,
    Recovering,
    SelfDeleting,
    SequenceFirst,
    Tied,
    TwoInputs,
    Unpooling,
    WithHooks,
    shared_gate,
)
from networks.fully_connected import Skipping, fully_connected
from networks.hidden import (
    CustomFunction,
    HandGates,
    HiddenBehindBias,
    Scripted,
    ScriptedFunction,
)
from networks.residual import ResNet18
from penstock import GateRecord, PenstockError, adapt, capture
from penstock.gates.holding import Holding
from penstock.gates.layer import GateLayer
from penstock.model.copies import float64_copy


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def holds(model, x):
    capture(model, x).verify(model, x)


def bends(model, x, sentence):
    record = capture(model, x)
    with pytest.raises(PenstockError, match=sentence) as caught:
        record.verify(model, x)
    assert "\n" not in str(caught.value)


AFFINE = {
    "fully connected": (fully_connected(4, 6, 6, 2, bias=True, dtype=torch.float32), (5, 4)),
    "a skip": (Skipping(4), (5, 4)),
    "one ReLU object": (shared_gate(), (5, 4)),
    "every form": (Forms(), (5, 5)),
    "an alias": (AliasedInPlace(), (5, 4)),
    "a recurrence": (Loop(), (5, 3)),
    "depth": (Nested(40), (5, 4)),
    "tied weights": (Tied(), (5, 4)),
    "hooks": (WithHooks(), (5, 4)),
    "a failed attempt": (Recovering(), (5, 4)),
    "one that changes itself": (SelfDeleting(), (5, 4)),
    "gated weights": (PositiveWeights(), (5, 4)),
    "sequence first": (SequenceFirst(), (5, 5, 3)),
    "folded outside": (Folded(), (5, 2, 3)),
    "folded inside": (Folded(outside=False), (5, 2, 3)),
    "unpooling": (Unpooling(), (3, 1, 6, 6)),
    "checkpoints": (Checkpointed(True), (5, 4)),
    "a dictionary": (adapt(TwoInputs(), lambda model, batch: model(batch, 2.0)["logits"]), (5, 4)),
    "weight norm": (
        nn.Sequential(parametrizations.weight_norm(nn.Linear(4, 6)), nn.ReLU(), nn.Linear(6, 2)),
        (5, 4),
    ),
    "one input": (fully_connected(1, 6, 1, dtype=torch.float32), (5, 1)),
    "a row of zeros": (fully_connected(4, 6, 2, bias=True, dtype=torch.float32), (5, 4)),
}


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad:UserWarning")
@pytest.mark.parametrize("what", AFFINE)
def test_a_record_of_all_gates_holds(what):
    model, shape = AFFINE[what]
    x = torch.randn(shape)
    x[2] *= "zeros" not in what
    holds(model, x)


@pytest.mark.parametrize(
    "function",
    [
        torch.relu,
        F.leaky_relu,
        lambda q: F.leaky_relu(q, -0.3),
        lambda q: F.relu6(5 * q + 3),
        lambda q: F.hardtanh(3 * q),
        lambda q: q.clamp(0, 0.2),
        torch.abs,
        F.silu,
        F.gelu,
        lambda q: F.gelu(q, approximate="tanh"),
        nn.PReLU(6),
        lambda q: F.rrelu(q),
        lambda q: F.max_pool1d(q[:, None], 3, stride=1, padding=1)[:, 0],
        lambda q: F.adaptive_max_pool1d(q[:, None], 6)[:, 0],
    ],
)
def test_every_kind_of_gate_can_be_held(function):
    model = Called(lambda q: function(torch.relu(q) - 0.3))
    holds(model, 3 * torch.randn(20, 4))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_a_residual_network_holds_in_every_dtype(dtype):
    model = ResNet18(width=4, pooled=True).eval()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.normal_(module.get_buffer("running_mean"))
            nn.init.uniform_(module.get_buffer("running_var"), 0.5, 2)
    holds(model.to(dtype), torch.randn(3, 3, 32, 32).to(dtype))


def test_data_in_batches_hold():
    model, x = shared_gate(), torch.randn(10, 4)
    loader = DataLoader(TensorDataset(x), batch_size=4)
    record = capture(model, x)
    record.verify(model, loader)
    record.verify(model, x.numpy())
    record.select(slice(3, 7)).verify(model, x[3:7])
    picked = DataLoader(TensorDataset(x), sampler=[7, 2, 5], batch_size=2)
    capture(model, picked).verify(model, picked)
    with pytest.raises(PenstockError, match="the record holds 3 examples and x has 10"):
        capture(model, picked).verify(model, loader)
    # added up in another order, a pre-activation may be zero but for rounding
    capture(model, loader).verify(model, x)


def test_a_loaded_record_holds(tmp_path):
    model, x = (
        nn.Sequential(nn.Linear(4, 6), nn.PReLU(6), nn.Linear(6, 6), nn.SiLU(), nn.Linear(6, 2)),
        torch.randn(5, 4),
    )
    capture(model, x).save(tmp_path / "record.safetensors")
    GateRecord.load(tmp_path / "record.safetensors").verify(model, x)


@pytest.mark.filterwarnings("ignore:.*weight_norm.*:FutureWarning")
def test_derived_weights_are_derived_again():
    model, x = shared_gate(), torch.randn(5, 4)
    prune.random_unstructured(model[0], "weight", 0.5)
    torch.nn.utils.weight_norm(model[2])
    model(x)
    holds(model, x)


def test_a_compiled_model_holds():
    model, x = torch.compile(shared_gate(), backend="eager"), torch.randn(5, 4)
    model(x)
    holds(model, x)


@pytest.mark.parametrize("form", HandGates.FORMS)
def test_a_gate_written_by_hand_is_found_and_named(form):
    name = {"mask": "mul", "magnitude": "mul", "fill": "masked_fill", "tensor_bound": "clamp"}.get(form, form)
    bends(
        nn.Sequential(HandGates(form)),
        torch.randn(5, 4),
        rf"with the record's gates held, the call of {name} \(in 0, line \d+ of hidden.py\) is not affine",
    )


def test_a_gate_behind_a_bias_is_found_far_from_x():
    model, x = HiddenBehindBias(), torch.randn(5, 6)
    bends(model, x, r"the call of mul \(line \d+ of hidden.py\) is not affine")
    # near x there is nothing to see
    copied = float64_copy(model)
    held = Holding(copied, {name: layer.pattern() for name, layer in capture(model, x).items()})
    u = torch.randn(5, 6).double()
    with torch.no_grad():
        at, plus, minus = (held.run(x.double() + sign * u) for sign in (0, 1, -1))
    assert (plus + minus - 2 * at).norm() < 1e-12 * (plus - minus).norm()


@given(st.integers(0, 10_000))
def test_a_gate_hidden_anywhere_in_a_random_network_is_found(seed):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 8), HandGates("mask", 8, 8))
    x = torch.randn(6, 3)
    record = capture(model, x)
    with pytest.raises(PenstockError, match=r"the call of mul \(in 3, line"):
        record.verify(model, x)


@pytest.mark.parametrize(
    ("model", "place"),
    [
        (nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Sigmoid()), r"the layer 2 \(Sigmoid\)"),
        (nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Softmax(1)), r"the layer 2 \(Softmax\)"),
        (nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.ReLU()), r"the layer 1 \(LayerNorm\)"),
        (nn.Sequential(nn.ReLU(), nn.Sequential(nn.Tanh(), nn.Sigmoid())), r"the layer 1.0 \(Tanh\)"),
        (Called(lambda q: torch.relu(q) * q), r"the call of mul \(line \d+ of test_proof.py\)"),
        (Called(lambda q: (torch.relu(q) > 0).float() + q), r"the call of float \(line"),
        (Called(lambda q: torch.relu(q) / q.norm()), r"the call of norm \(line"),
        (Called(lambda q: torch.relu(q) + q.amax(1, keepdim=True)), r"the call of amax \(line"),
        (Called(lambda q: torch.relu(q).sort().values), r"the call of sort \(line"),
        (Called(lambda q: torch.relu(q).exp()), r"the call of exp \(line"),
        (Called(lambda q: torch.relu(q) + torch.randn(q.shape, dtype=q.dtype)), r"the call of randn \(line"),
        (Called(lambda q: torch.relu(q).float().to(q.dtype)), r"the call of float \(line"),
        (Called(lambda q: q.detach().clamp(-0.1, 0.1) + torch.relu(q)), r"the call of clamp \(line"),
    ],
)
def test_what_is_neither_affine_nor_a_gate_is_named(model, place):
    bends(
        model,
        torch.randn(5, 4),
        rf"with the record's gates held, {place}.* is not affine, so these are not all gates",
    )


def test_attention_is_named():
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
    bends(layer, torch.randn(5, 3, 4), r"multi_head_attention_forward \(in self_attn")


def test_one_bent_example_among_many_is_found():
    class OneRow(nn.Module):
        """Bends where the first feature is very large."""

        def forward(self, x):
            return torch.relu(x) + 1e-5 * torch.where(x[:, :1] > 50, x * x, x)

    x = torch.randn(64, 4)
    x[41, 0] = 60.0
    record = capture(OneRow(), x)
    with pytest.raises(PenstockError, match=r"the call of .* is not affine.*for row 41"):
        # at |u| = |x| no other row comes near
        record.verify(OneRow(), x)


def test_control_flow_that_depends_on_the_data_is_not_affine():
    bends(
        Branching(),
        torch.randn(5, 4),
        "the model (calls|does not call) relu:2 at .* control flow depends on the data",
    )


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
def test_a_scripted_function_that_bends_is_found():
    def bend(q: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(q)

    bends(ScriptedFunction(bend), torch.randn(5, 4), "is not affine")


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
def test_what_capture_would_have_refused_is_refused():
    x = torch.randn(5, 4)
    record = capture(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), x)
    with pytest.raises(PenstockError, match=r"the layer child \(RecursiveScriptModule\) is scripted"):
        record.verify(Scripted(), x)
    # a custom Function that bends is found by running it
    model = CustomFunction()
    alone = capture(model.first, x)
    record = GateRecord([GateLayer.of("first.1", alone["1"].kind, model.first[0](x).detach())])
    with pytest.raises(PenstockError, match="is not affine"):
        record.verify(model, x)


def other(change):
    """The record of a small network, after something about it was changed."""
    return lambda: change(capture(shared_gate(), torch.randn(5, 4)))


@pytest.mark.parametrize(
    ("model", "x", "sentence"),
    [
        (
            fully_connected(4, 6, 2, dtype=torch.float32),
            (5, 4),
            "it has gates for 1:2, which the model does not call",
        ),
        (
            Called(torch.relu),
            (5, 4),
            "it has no gates for relu, which the model calls; there are 1, 1:2, 1:3",
        ),
        (
            shared_gate(width=7),
            (5, 4),
            r"the record has gates of shape \(6,\) for 1, and the model has \(7,\)",
        ),
        (shared_gate(), (4, 4), "the record holds 5 examples and x has 4"),
        (shared_gate(), (6, 4), "the record holds 5 examples and x has 6"),
        (
            shared_gate(),
            (5, 4),
            r"the record's gates of 1 are not those that the model opens for row \d of x; capture",
        ),
    ],
)
def test_a_record_of_another_model_or_other_inputs_is_refused(model, x, sentence):
    record = capture(shared_gate(), torch.randn(5, 4))
    with pytest.raises(PenstockError, match=sentence):
        record.verify(model, torch.randn(x))


def test_a_record_of_other_kinds_is_refused():
    x = torch.randn(5, 4)
    act = nn.LeakyReLU(0.1)
    model = nn.Sequential(nn.Linear(4, 4), act)
    record = capture(model, x)
    act.negative_slope = 0.2
    with pytest.raises(
        PenstockError, match=r"gates of 1 are LeakyReLU 0.1 and the model's are LeakyReLU 0.2"
    ):
        record.verify(model, x)


def test_a_record_from_before_a_step_of_training_is_refused():
    model, x = shared_gate(), torch.randn(50, 4)
    record = capture(model, x)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    with pytest.raises(PenstockError, match="not those that the model opens for row"):
        record.verify(model, x)


def test_a_single_gate_that_is_wrong_is_found():
    model, x = shared_gate(), torch.randn(5, 4)
    record = capture(model, x)
    patterns = record.to_dense()
    patterns["1:2"][3, 4] ^= True
    wrong = GateRecord.from_patterns((name, record[name].kind, pattern) for name, pattern in patterns.items())
    with pytest.raises(
        PenstockError, match="the record's gates of 1:2 are not those that the model opens for row 3 of x"
    ):
        wrong.verify(model, x)


def test_bad_input_is_told():
    model, x = shared_gate(), torch.randn(5, 4)
    record = capture(model, x)
    for bad, sentence in (
        (x / 0, "NaN|infinite"),
        (x.double(), "torch.float64"),
        (x[:, :3], "takes 4 features"),
    ):
        with pytest.raises(PenstockError, match=sentence):
            record.verify(model, bad)
    with pytest.raises(PenstockError, match="is in training mode"):
        record.verify(nn.Sequential(model, nn.Dropout()), x)


def test_integers_are_not_affine():
    bends(
        adapt(shared_gate(), lambda m, b: m(b).argmax(1)),
        torch.randn(5, 4),
        "returns torch.int64, and numbers that can",
    )


def test_a_tensor_that_the_copy_does_not_know_is_told():
    hidden = nn.Linear(6, 6)
    bends(
        Called(lambda q: torch.relu(hidden(q))),
        torch.randn(5, 4),
        r"the model \(Called\) cannot be run in float64 \(.*dtype",
    )


def test_the_model_is_left_as_it_was_found():
    model, x = ResNet18(width=4).eval(), torch.randn(2, 3, 32, 32)
    model(x).sum().backward()
    state, grads = copy.deepcopy(model.state_dict()), [parameter.grad for parameter in model.parameters()]
    draws = torch.get_rng_state()
    holds(model, x)
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert all(parameter.grad is grad for parameter, grad in zip(model.parameters(), grads, strict=True))
    assert torch.equal(torch.get_rng_state(), draws)
    assert next(model.parameters()).dtype == torch.float32
