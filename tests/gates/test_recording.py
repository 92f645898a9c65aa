"""`capture`: the gates that a model opens for a set of inputs."""

import copy
from typing import Any

import jaxtyping
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from networks.awkward import AliasedInPlace, Branching, Called, Loop, SelfDeleting, TwoInputs, shared_gate
from networks.fully_connected import fully_connected
from networks.residual import ResNet18
from penstock import PenstockError, adapt, capture
from penstock.gates.kinds import Clipped, Rectifier

DTYPES = st.sampled_from([torch.float32, torch.float64, torch.bfloat16, torch.float16])


def loader(examples: Any, **arguments: Any) -> DataLoader:
    """A loader of anything that has a length, or none."""
    return DataLoader(examples, **arguments)


def pair(model: Any, batch: Any) -> Any:
    return model(batch), 0


def by_hand(model, x):
    """The gates of a chain of layers and ReLUs, in a loop: open where q > 0 (N Table 1)."""
    gates = []
    for layer in model:
        if isinstance(layer, nn.ReLU):
            gates.append(x > 0)
        x = layer(x)
    return gates


@given(
    st.lists(st.integers(1, 9), min_size=3, max_size=6),
    st.integers(1, 9),
    DTYPES,
    st.booleans(),
    st.integers(0, 99),
)
def test_a_gate_is_open_where_its_pre_activation_is_positive(widths, n, dtype, bias, seed):
    model = fully_connected(*widths, bias=bias, seed=seed, dtype=dtype)
    x = torch.randn(n, widths[0], generator=torch.Generator().manual_seed(seed)).to(dtype)
    found = capture(model, x).to_dense().values()
    assert [gates.tolist() for gates in found] == [gates.tolist() for gates in by_hand(model, x)]


@given(st.integers(1, 11), st.integers(1, 12))
def test_batches_make_the_same_record_as_all_at_once(n, size):
    model = fully_connected(3, 5, 5, 2)
    x = torch.randn(n, 3, dtype=torch.float64)
    assert capture(model, x, batch_size=size) == capture(model, x)
    assert capture(model, DataLoader(TensorDataset(x, x), batch_size=size)) == capture(model, x)
    assert capture(model, x.numpy()) == capture(model, x)


def test_a_stream_without_a_length_is_captured():
    class Stream(IterableDataset):
        def __iter__(self):
            return iter(torch.eye(3, dtype=torch.float64))

    model = fully_connected(3, 5, 2)
    seen = []
    record = capture(model, loader(Stream(), batch_size=2), progress=lambda *numbers: seen.append(numbers))
    assert record == capture(model, torch.eye(3, dtype=torch.float64))
    assert seen == [(2, None), (3, None)]


def test_progress_is_told_after_every_batch():
    model, x = fully_connected(3, 5, 2), torch.randn(10, 3, dtype=torch.float64)
    for given_x, size in ((x, 4), (x.numpy(), 4), (DataLoader(TensorDataset(x), batch_size=4), None)):
        seen = []
        capture(model, given_x, batch_size=size, progress=lambda *numbers, seen=seen: seen.append(numbers))
        assert seen == [(4, 10), (8, 10), (10, 10)]


def test_a_hard_gate_takes_one_bit():
    model = nn.Sequential(nn.Linear(3, 640), nn.ReLU(), nn.Linear(640, 64), nn.ReLU())
    record = capture(model, torch.randn(16, 3))
    assert record.nbytes == 16 * (640 + 64) // 8


def test_a_recurrence_opens_a_layer_of_gates_at_every_step():
    record = capture(Loop(), torch.randn(6, 3))
    assert record.names == ("relu", "relu:2", "relu:3", "relu:4")


def test_an_in_place_call_is_read_before_it_writes():
    model, x = AliasedInPlace(), torch.randn(6, 4)
    assert torch.equal(capture(model, x)["relu"].to_dense(), model.first(x) > 0)


def test_the_kinds_of_a_resnet_with_pooling():
    model = ResNet18(width=4, pooled=True).eval()
    record = capture(model, torch.randn(2, 3, 33, 33))
    assert record.names[:3] == ("stem.2", "stem.3", "layers.0.0.relu")
    assert record["stem.3"].to_dense().sum(-1).eq(1).all()  # of every window one


def test_smooth_gates_are_kept_by_value():
    model, x = Called(F.silu), torch.randn(5, 4)
    q = model.first(x)
    torch.testing.assert_close(capture(model, x)["silu"].to_dense(), torch.sigmoid(q).detach())
    torch.testing.assert_close(
        capture(Called(F.gelu), x)["gelu"].to_dense() >= 0, torch.ones(5, 6, dtype=torch.bool)
    )


def test_the_record_of_a_slope_does_not_learn_on():
    model, x = nn.Sequential(nn.Linear(4, 6), nn.PReLU(6)), torch.randn(5, 4)
    record = capture(model, x)
    nn.init.constant_(model.get_parameter("1.weight"), 0.75)
    assert record["1"].kind == Rectifier(torch.full((6,), 0.25))


def test_relu6_has_a_third_state():
    model, x = nn.ReLU6(), torch.tensor([[-1.0, 1.0, 7.0]])
    record = capture(model, x)
    assert record.names == ("hardtanh",)  # which is what nn.ReLU6 calls
    assert record["hardtanh"].pattern().tolist() == [[Clipped.SHUT, Clipped.OPEN, Clipped.HELD]]
    assert record["hardtanh"].to_dense().tolist() == [[False, True, False]]


def test_the_input_is_not_written_to():
    x = torch.randn(5, 4)
    before = x.clone()
    capture(nn.Sequential(nn.ReLU(inplace=True), nn.Linear(4, 2)), x)
    assert torch.equal(x, before)


def test_weights_are_those_at_the_time():
    model, x = fully_connected(3, 5, 2), torch.randn(4, 3, dtype=torch.float64)
    record = capture(model, x)
    with torch.no_grad():
        model.get_parameter("0.weight").neg_()
    assert not (record["1"].to_dense() & capture(model, x)["1"].to_dense()).any()


def test_gradient_mode_and_inference_mode_are_no_matter():
    model, x = fully_connected(3, 5, 2), torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    record = capture(model, x)
    with torch.inference_mode():
        assert capture(model, x) == record
    with torch.no_grad():
        assert capture(model, x) == record
    assert x.grad is None


def test_autocast_is_watched_as_it_runs():
    model, x = nn.Sequential(nn.Linear(64, 64), nn.ReLU()), torch.randn(32, 64)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        expected = model[0](x) > 0
        assert torch.equal(capture(model, x)["1"].to_dense(), expected)


class Stopping(nn.Module):
    """Changes all that can be changed, and stops in the middle."""

    def __init__(self, stop):
        super().__init__()
        self.body: Any = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4).eval(), nn.ReLU())
        self.stop = stop

    def forward(self, x):
        x = self.body(x)
        self.body[1].running_mean.add_(1)
        self.body.eval()
        self.requires_grad_(False)
        self.body.register_forward_hook(lambda *_: None)
        torch.rand(1)
        if self.stop is not None:
            raise self.stop
        return x


@pytest.mark.parametrize("stop", [None, KeyError("own"), KeyboardInterrupt()])
def test_the_model_is_left_as_it_was_found(stop):
    model = Stopping(stop)
    model.body(torch.randn(3, 4)).sum().backward()
    grads = [parameter.grad for parameter in model.parameters()]
    state = copy.deepcopy(model.state_dict())
    modes = [module.training for module in model.modules()]
    draws = torch.get_rng_state()
    if stop is None:
        capture(model, torch.randn(3, 4, generator=torch.Generator()))
    else:
        with pytest.raises(type(stop)):
            capture(model, torch.randn(3, 4, generator=torch.Generator()))
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert [module.training for module in model.modules()] == modes
    assert all(parameter.requires_grad for parameter in model.parameters())
    assert all(parameter.grad is grad for parameter, grad in zip(model.parameters(), grads, strict=True))
    assert not model.body._forward_hooks
    assert torch.equal(torch.get_rng_state(), draws)
    # and nothing watches any more
    assert not torch.overrides._get_current_function_mode_stack()


def test_a_loaders_draw_of_a_seed_is_undone():
    model, given_x = fully_connected(3, 5, 2), DataLoader(TensorDataset(torch.ones(4, 3)))
    draws = torch.get_rng_state()
    capture(model, given_x)
    assert torch.equal(torch.get_rng_state(), draws)


def test_a_model_that_changes_itself_is_captured_once():
    model = SelfDeleting()
    record = capture(model, torch.randn(3, 4))
    assert capture(model, torch.randn(3, 4)).names == record.names == ("once",)
    assert model.calls == 0


def test_training_mode_is_accepted_where_nothing_depends_on_it():
    model, x = shared_gate().train(), torch.randn(3, 4)
    record = capture(model, x)
    assert model.training
    assert record == capture(model.eval(), x)


def test_the_order_of_a_loader_is_kept():
    x = torch.randn(9, 4)
    model = shared_gate()
    record = capture(model, DataLoader(TensorDataset(x), batch_size=4))
    assert record.select([8]) == capture(model, x[8:])


class Fixed(nn.Module):
    """Made for four examples."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(self.layer(x)).view(4, -1)


@pytest.mark.parametrize(
    ("model", "x", "sentence"),
    [
        (lambda x: torch.relu(x), torch.ones(2, 4), "the model must be a torch.nn.Module, not function"),
        (
            nn.Sequential(nn.Linear(4, 4), nn.Tanh()),
            torch.ones(2, 4),
            r"the model \(Sequential\) has no gates: it calls neither",
        ),
        (shared_gate(), torch.full((2, 4), torch.nan), "x has NaN in row 0"),
        (shared_gate(), torch.full((2, 4), torch.inf), "x has an infinite number in row 0"),
        (
            shared_gate(),
            torch.ones(2, 5),
            r"the layer 0 \(Linear\) takes 4 features and is given 5 \(x has shape 2×5\)",
        ),
        (shared_gate(), torch.ones(0, 4), "x is empty"),
        (
            shared_gate(),
            torch.ones(2, 4, dtype=torch.int64),
            "x is torch.int64, and floating-point numbers are needed",
        ),
        (
            shared_gate(),
            torch.ones(2, 4, dtype=torch.float64),
            "x is torch.float64 and the model is torch.float32",
        ),
        (shared_gate(), torch.ones(2, 4, device="meta"), "x is on meta and the model is on cpu"),
        (
            nn.Sequential(nn.Linear(4, 4, dtype=torch.complex64)),
            torch.ones(2, 4),
            "0.weight is torch.complex64, and gates",
        ),
        (shared_gate(), torch.ones(2, 4, dtype=torch.complex64), "x is torch.complex64"),
        (
            nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU()),
            torch.ones(2, 4),
            r"1 \(BatchNorm1d\) is in training mode",
        ),
        (
            nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4, device="meta")),
            torch.ones(2, 4),
            "more than one device",
        ),
        (
            nn.Sequential(nn.LazyLinear(4), nn.ReLU()),
            torch.ones(2, 4),
            "has no weights before its first input",
        ),
        (TwoInputs(), torch.ones(2, 4), r"takes 2 arguments \(image, scale\), .* penstock.adapt"),
        (
            adapt(TwoInputs(), lambda m, b: m(b, 1.0)),
            torch.ones(2, 4),
            r"returns a dictionary \(features, logits\)",
        ),
        (
            adapt(shared_gate(), pair),
            torch.ones(2, 4),
            "returns a tuple of 2, .* penstock.adapt",
        ),
        (
            adapt(shared_gate(), lambda m, b: m(b).mean()),
            torch.ones(2, 4),
            "returns a single number for 2 examples",
        ),
        (adapt(shared_gate(), lambda m, b: m(b)[:1]), torch.ones(2, 4), "returns 1 rows for 2 examples"),
        (Fixed(), torch.ones(2, 4), "returns 4 rows for 2 examples"),
        (
            shared_gate(),
            DataLoader(TensorDataset(torch.ones(2, 4)), shuffle=True),
            r"the loader is shuffled \(its sampler is a RandomSampler\)",
        ),
    ],
)
def test_bad_input_is_told_in_one_sentence(model, x, sentence, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # as a user runs it
    with pytest.raises(PenstockError, match=sentence) as caught:
        capture(model, x)
    assert "\n" not in str(caught.value)


def test_weights_that_have_diverged_are_told():
    model = shared_gate()
    nn.init.constant_(model.get_parameter("2.weight"), torch.nan)
    with pytest.raises(PenstockError, match="Sequential returns NaN for row 0 of an input without NaN"):
        capture(model, torch.ones(2, 4))


def test_layers_that_some_batches_open_and_others_do_not_are_refused():
    x = torch.ones(4, 4)
    x[2:] = -1
    assert capture(Branching(), x).names == ("relu", "relu:2")
    with pytest.raises(PenstockError, match=r"relu:2 is called for some batches and not for others .* row 2"):
        capture(Branching(), x, batch_size=2)


def test_examples_of_another_size_are_refused():
    model = nn.Sequential(nn.Conv1d(1, 2, 3), nn.ReLU(), nn.AdaptiveAvgPool1d(1))
    batches = loader([torch.randn(3, 1, 9), torch.randn(3, 1, 8)], batch_size=None)
    with pytest.raises(
        PenstockError, match=r"1 has \(2, 7\) gates an example in the first batch and \(2, 6\) from row 3"
    ):
        capture(model, batches)


def test_a_read_only_array_from_a_file_is_captured(tmp_path):
    x = np.random.default_rng(0).normal(size=(6, 3))
    np.save(tmp_path / "x.npy", x)
    model = fully_connected(3, 5, 2)
    assert capture(model, np.load(tmp_path / "x.npy", mmap_mode="r")) == capture(model, x)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_model_on_a_gpu_is_captured_and_verified(dtype):
    model = ResNet18(width=8, pooled=True).eval().to("cuda", dtype)
    x = torch.randn(6, 3, 32, 32, device="cuda", dtype=dtype)
    record = capture(model, x)
    record.verify(model, x)
    assert record["stem.2"].words.device.type == "cuda"
    with pytest.raises(PenstockError, match="x is on cpu and the model is on cuda:0"):
        capture(model, x.cpu())
    assert capture(model, x.float().cpu().numpy()) == record


def test_a_model_that_mixes_examples_is_recorded_as_it_ran():
    """The gates are those of the batches that it was given."""
    model = shared_gate()
    mixing = adapt(model, lambda m, b: m(b - b.mean(0)))
    x = torch.randn(6, 4, generator=torch.Generator().manual_seed(0)) + 3
    in_halves = capture(mixing, x, batch_size=3)
    for part, half in ((slice(0, 3), x[:3]), (slice(3, 6), x[3:])):
        assert in_halves.select(part) == capture(model, half - half.mean(0))
    assert in_halves != capture(mixing, x)
