"""Every ReLU-like call is seen as it happens, in whatever form, and can be replaced without anybody
noticing."""

import threading

import jaxtyping
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, jacrev, vmap

from networks.awkward import AliasedInPlace, Called, Checkpointed, Forms, Unpooling, shared_gate
from penstock import PenstockError
from penstock.gates.choice import Pooling
from penstock.gates.watch import Watch


class Listing(Watch):
    """Looks, and leaves every call as it is."""

    def __init__(self, model):
        super().__init__(model)
        self.listed = []
        self.signals = []

    def on_call(self, name, kind, q):
        self.listed.append(name)
        self.signals.append(q.detach().clone())


class Replacing(Listing):
    """Puts in the place of every call what its gates make of it."""

    def on_call(self, name, kind, q):
        super().on_call(name, kind, q)
        return kind.apply(q, kind.read(q))

    def held_indices(self, name, kind: Pooling, q):
        return kind.indices(q)


class Watched(nn.Module):
    """A module that runs another under a watch, as a decoupled network does."""

    def __init__(self, model):
        super().__init__()
        self.model = model
        self.listed = []

    def forward(self, x):
        watch = Replacing(self.model)
        with watch:
            y = self.model(x)
        self.listed = watch.listed
        return y


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def out(function, *args, **kwargs):
    return lambda q: function(q, *args, **kwargs, out=torch.empty_like(q))


VECTORS = {
    "relu": torch.relu,
    "relu F": F.relu,
    "relu F in place": lambda q: F.relu(q, inplace=True),
    "relu torch in place": torch.relu_,
    "relu method": lambda q: q.relu(),
    "relu method in place": lambda q: q.relu_(),
    "relu module": nn.ReLU(),
    "relu module in place": nn.ReLU(inplace=True),
    "relu aten": torch.ops.aten.relu,
    "leaky_relu": lambda q: F.leaky_relu(q, 0.2),
    "leaky_relu in place": lambda q: F.leaky_relu_(q, 0.2),
    "leaky_relu module": nn.LeakyReLU(0.2, inplace=True),
    "prelu": nn.PReLU(6),
    "prelu method": lambda q: q.prelu(torch.full((6,), 0.3)),
    "rrelu": nn.RReLU(inplace=True).eval(),
    "abs": torch.abs,
    "abs built in": abs,
    "abs in place": lambda q: q.abs_(),
    "absolute": lambda q: q.absolute(),
    "abs out": out(torch.abs),
    "hardtanh": lambda q: F.hardtanh(q, -0.5, 0.3),
    "hardtanh in place": nn.Hardtanh(inplace=True),
    "relu6": F.relu6,
    "hardtanh relu6 module": nn.ReLU6(inplace=True),
    "clamp": lambda q: q.clamp(min=0),
    "clamp both": lambda q: torch.clamp(q, 0, 0.4),
    "clamp in place": lambda q: q.clamp_(0.0),
    "clamp out": out(torch.clamp, min=0),
    "clamp_min": lambda q: q.clamp_min(0),
    "clamp_min in place": lambda q: q.clamp_min_(0),
    "clip": lambda q: torch.clip(q, 0),
    "threshold": nn.Threshold(0, 0, inplace=True),
    "silu": F.silu,
    "silu in place": nn.SiLU(inplace=True),
    "gelu": F.gelu,
    "gelu tanh": nn.GELU("tanh"),
}

IMAGES = {
    "max_pool1d": lambda q: F.max_pool1d(q.flatten(2), 3, stride=2, padding=1, dilation=2, ceil_mode=True),
    "max_pool1d module": lambda q: nn.MaxPool1d(2)(q.flatten(2)),
    "max_pool2d": lambda q: F.max_pool2d(q, 3, stride=2, padding=1, ceil_mode=True),
    "max_pool2d torch": lambda q: torch.max_pool2d(q, (2, 3)),
    "max_pool2d module": nn.MaxPool2d(2, dilation=2),
    "max_pool2d indices": lambda q: F.max_pool2d(q, 2, return_indices=True)[0],
    "max_pool2d places": lambda q: F.max_pool2d(q, 2, return_indices=True)[1],
    "max_pool3d": lambda q: F.max_pool3d(q[:, None], 2),
    "adaptive_max_pool1d": lambda q: F.adaptive_max_pool1d(q.flatten(2), 5),
    "adaptive_max_pool2d": nn.AdaptiveMaxPool2d((3, None)),
    "adaptive_max_pool2d places": nn.AdaptiveMaxPool2d(3, return_indices=True),
    "adaptive_max_pool3d": lambda q: F.adaptive_max_pool3d(q[:, None], 2),
}


@pytest.mark.parametrize("form", VECTORS)
def test_a_call_is_seen_and_left_as_it_is(form):
    q = torch.randn(5, 6)
    expected = VECTORS[form](q.clone())
    watch = Listing(nn.Module())
    with watch:
        y = VECTORS[form](q.clone())
    assert watch.listed == [form.split()[0]]
    assert torch.equal(watch.signals[0], q)
    assert torch.equal(y, expected)


@pytest.mark.parametrize("form", VECTORS)
def test_a_replaced_call_gives_what_the_call_gives_and_writes_where_it_writes(form):
    q = torch.randn(5, 6)
    theirs, ours = q.clone(), q.clone()
    expected = VECTORS[form](theirs)
    with Replacing(nn.Module()):
        y = VECTORS[form](ours)
    torch.testing.assert_close(y, expected)
    torch.testing.assert_close(ours, theirs)
    assert (y.data_ptr() == ours.data_ptr()) == (expected.data_ptr() == theirs.data_ptr())


@pytest.mark.parametrize("form", IMAGES)
def test_a_max_pooling_is_seen_and_can_be_replaced(form):
    q = torch.randn(2, 3, 7, 8)
    expected = IMAGES[form](q)
    watch = Replacing(nn.Module())
    with watch:
        y = IMAGES[form](q)
    assert watch.listed == [form.split()[0]]
    for mine, its in zip(
        *(pair if isinstance(pair, tuple) else (pair,) for pair in (y, expected)), strict=True
    ):
        assert torch.equal(mine, its)


@pytest.mark.parametrize(
    "function",
    [
        torch.sigmoid,
        torch.tanh,
        F.elu,
        F.celu,
        F.selu,
        F.softplus,
        F.mish,
        F.hardswish,
        F.softsign,
        lambda q: q.clamp(-1, 1),
        lambda q: q.clamp(max=0),
        lambda q: F.threshold(q, 0.2, 0),
        lambda q: (q * 3).long().abs(),
        lambda q: torch.complex(q, q).abs(),
        lambda q: q * (q > 0),
    ],
)
def test_what_is_no_gate_is_not_taken_for_one(function):
    watch = Listing(nn.Module())
    with watch:
        function(torch.randn(5, 6))
    assert watch.listed == []


def test_an_alias_sees_what_a_replaced_call_writes():
    model, x = AliasedInPlace(), torch.randn(5, 4)
    expected = model(x)
    with Replacing(model):
        assert torch.equal(model(x), expected)


def test_all_forms_one_after_another_are_replaced():
    model, x = Forms(), torch.randn(3, 5)
    watch = Replacing(model)
    with watch:
        y = model(x)
    assert torch.equal(y, model(x))
    assert len(watch.listed) == 12


def test_the_places_of_maxima_cannot_be_replaced_unless_somebody_says_what_they_are():
    class Silent(Listing):
        def on_call(self, name, kind, q):
            return kind.apply(q, kind.read(q))

    model = Unpooling()
    with (
        pytest.raises(PenstockError, match="pool returns the places of its maxima, which cannot be replaced"),
        Silent(model),
    ):
        model(torch.randn(2, 1, 4, 4))


def test_it_counts_from_one_again_at_every_run_and_after_an_error():
    model, x = shared_gate(), torch.randn(3, 4)
    watch = Listing(model)
    for _ in range(2):
        with watch:
            model(x)
    with pytest.raises(RuntimeError), watch:
        model(torch.randn(3, 5))
    with watch:
        model(x)
    assert watch.listed == ["1", "1:2", "1:3"] * 3
    model(x)
    assert len(watch.listed) == 9


def test_two_watches_see_the_same():
    model = shared_gate()
    inner, outer = Listing(model), Listing(nn.Sequential(model))
    with outer, inner:
        model(torch.randn(3, 4))
    assert inner.listed == ["1", "1:2", "1:3"]
    assert outer.listed == ["0.1", "0.1:2", "0.1:3"]


def test_another_thread_is_not_watched():
    model, x = shared_gate(), torch.randn(3, 4)
    watch = Listing(model)
    with watch:
        thread = threading.Thread(target=model, args=(x,))
        thread.start()
        thread.join()
    assert watch.listed == []


def test_it_works_under_functional_call():
    model, x = Watched(shared_gate()), torch.randn(3, 4)
    halves = {name: parameter / 2 for name, parameter in model.named_parameters()}
    expected = functional_call(
        model.model, {name.removeprefix("model."): value for name, value in halves.items()}, (x,)
    )
    assert torch.equal(functional_call(model, halves, (x,)), expected)
    assert model.listed == ["1", "1:2", "1:3"]


def test_it_works_under_autograd():
    model, x = shared_gate(), torch.randn(3, 4)
    watched = Watched(model)
    expected = torch.autograd.grad(model(x).sum(), list(model.parameters()))
    found = torch.autograd.grad(watched(x).sum(), list(model.parameters()))
    assert all(torch.equal(mine, its) for mine, its in zip(found, expected, strict=True))


@pytest.mark.parametrize("transform", [grad, jacrev])
def test_it_works_under_grad_and_vmap(transform):
    model, x = shared_gate(), torch.randn(3, 4)
    watched = Watched(model)

    def by_example(module):
        weights = {name: value.detach() for name, value in module.named_parameters()}
        return vmap(transform(lambda p, row: functional_call(module, p, (row[None],)).sum()), (None, 0))(
            weights, x
        )

    mine, its = by_example(watched), by_example(model)
    for name, value in its.items():
        torch.testing.assert_close(mine[f"model.{name}"], value)
    assert watched.listed == ["1", "1:2", "1:3"]


# torch's compiler, on the tensors that it makes up
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_it_works_inside_a_compiled_module(backend, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # as a user runs it
    torch._dynamo.reset()
    model, x = shared_gate(), torch.randn(3, 4)
    watched = Watched(model)
    compiled = torch.compile(watched, backend=backend)
    for _ in range(2):
        torch.testing.assert_close(compiled(x), model(x))
        assert watched.listed == ["1", "1:2", "1:3"]
    compiled(x).sum().backward()
    assert model[0].weight.grad is not None


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_it_works_inside_a_transformer_whose_fused_path_hides_the_gates(activation):
    layer = nn.TransformerEncoderLayer(4, 2, 8, activation=activation, batch_first=True).eval()
    model, x = nn.TransformerEncoder(layer, 2).eval(), torch.randn(3, 5, 4)
    with torch.no_grad():
        expected = model(x)
        watch = Replacing(model)
        with watch:
            torch.testing.assert_close(model(x), expected)
    assert watch.listed == [f"layers.0.{activation}", f"layers.1.{activation}"]


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad:UserWarning")
@pytest.mark.parametrize("reentrant", [False, True])
def test_it_works_under_checkpointing(reentrant):
    model, x = Checkpointed(reentrant), torch.randn(3, 4)
    watch = Listing(model)
    with watch, torch.no_grad():
        model(x)
    assert watch.listed == ["middle.0", "middle.2"]


def test_a_batch_may_have_any_floating_dtype():
    for dtype in (torch.float64, torch.bfloat16, torch.float16):
        model = Called(torch.relu).to(dtype)
        watch = Replacing(model)
        with watch:
            y = model(torch.ones(2, 4, dtype=dtype))
        assert torch.equal(y, model(torch.ones(2, 4, dtype=dtype)))
        assert watch.signals[0].dtype == dtype
