"""`adapt`: the model under another way of being called, and otherwise itself."""

import copy
import pickle

import jaxtyping
import pytest
import torch
from torch import nn
from torch.func import functional_call, vmap

import penstock
from networks.awkward import TwoInputs
from penstock import PenstockError, adapt
from penstock.model import left_as_found


def logits(model, batch):
    return model(batch, 2.0)["logits"]


@pytest.fixture
def model():
    torch.manual_seed(0)
    return TwoInputs().double()


@pytest.fixture
def x():
    return torch.randn(5, 4, dtype=torch.float64)


def test_it_calls_forward_with_the_model_and_the_batch(model, x):
    assert torch.equal(adapt(model, logits)(x), model(x, 2.0)["logits"])


def test_parameters_buffers_and_state_keep_the_names_of_the_model(model):
    adapted = adapt(model, logits)
    assert dict(adapted.named_parameters()).keys() == dict(model.named_parameters()).keys()
    assert all(mine is its for mine, its in zip(adapted.parameters(), model.parameters(), strict=True))
    assert [name for name, _ in adapted.named_buffers()] == ["offset"]
    assert adapted.state_dict().keys() == model.state_dict().keys()


def test_gates_keep_the_paths_of_the_model(model, x):
    assert penstock.capture(adapt(model, logits), x).names == ("body.1", "body.1:2", "relu")


def test_what_is_loaded_into_it_is_loaded_into_the_model(model, x):
    other = TwoInputs().double()
    adapt(model, logits).load_state_dict(other.state_dict())
    assert torch.equal(model(x, 2.0)["logits"], other(x, 2.0)["logits"])


def test_its_mode_and_dtype_are_those_of_the_model(model):
    adapted = adapt(model, logits)
    adapted.eval()
    assert not model.training
    assert not model.body.training
    adapted.train()
    assert model.training
    adapted.float()
    assert model.head.weight.dtype == torch.float32
    assert model.offset.dtype == torch.float32
    model.eval()
    assert adapt(model, logits).training is False


def test_functional_call_puts_other_weights_into_the_model(model, x):
    adapted = adapt(model, logits)
    halves = {name: parameter / 2 for name, parameter in adapted.named_parameters()}
    expected = functional_call(model, halves, (x, 2.0))["logits"]
    assert torch.equal(functional_call(adapted, halves, (x,)), expected)
    assert not torch.equal(adapted(x), expected)


def test_examples_can_be_mapped_over(model, x):
    adapted = adapt(model, logits)
    alone = vmap(lambda row: adapted(row[None])[0])(x)
    torch.testing.assert_close(alone, adapted(x))


def test_its_gradients_are_the_models(model, x):
    adapt(model, logits)(x).sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


@pytest.mark.parametrize("through", [copy.deepcopy, lambda adapted: pickle.loads(pickle.dumps(adapted))])
def test_a_copy_is_a_copy_of_both(model, x, through):
    adapted = adapt(model, logits)
    copied = through(adapted)
    assert torch.equal(copied(x), adapted(x))
    with torch.no_grad():
        for parameter in copied.parameters():
            parameter.zero_()
    assert torch.equal(copied(x), torch.ones_like(copied(x)))  # the offset alone
    assert not torch.equal(copied(x), adapted(x))
    copied.float()
    assert model.head.weight.dtype == torch.float64


def test_it_can_be_exported(model, x):
    adapted = adapt(model, logits)
    program = torch.export.export(adapted, (x,), strict=False)
    torch.testing.assert_close(program.module()(x), adapted(x))
    assert "head.weight" in dict(program.named_parameters())


def test_it_can_be_compiled(model, x):
    adapted = adapt(model, logits)
    torch.testing.assert_close(torch.compile(adapted, backend="eager")(x), adapted(x))


def test_it_can_be_part_of_a_larger_module(model, x):
    whole = nn.Sequential(adapt(model, logits), nn.Linear(2, 1).double())
    assert "0.body.0.weight" in dict(whole.named_parameters())
    assert "0.body.0.weight" in whole.state_dict()
    whole.load_state_dict(whole.state_dict())
    assert penstock.capture(whole, x).names == ("0.body.1", "0.body.1:2", "0.relu")


def test_it_can_wrap_what_it_has_made(model, x):
    twice = adapt(adapt(model, logits), lambda model, batch: -model(batch))
    assert torch.equal(twice(x), -model(x, 2.0)["logits"])
    assert penstock.capture(twice, x).names == ("body.1", "body.1:2", "relu")


def test_the_models_own_hooks_run(model, x):
    called = []
    model.register_forward_hook(lambda module, args, y: called.append(len(args)))
    adapt(model, logits)(x)
    assert called == [2]


def test_the_model_inside_is_left_as_found_too(model, x):
    adapted = adapt(model, logits)
    with left_as_found(adapted):
        model.register_forward_hook(lambda module, args, y: None)
        model.eval()
        model.note = "left behind"
    assert not model._forward_hooks
    assert model.training
    assert not hasattr(model, "note")


def test_a_recurrent_layer_can_be_adapted():
    adapted = adapt(nn.LSTM(3, 4, batch_first=True).double(), lambda model, batch: model(batch)[0][:, -1])
    x = torch.randn(2, 5, 3, dtype=torch.float64)
    assert adapted(x).shape == (2, 4)
    assert adapted.float()(x.float()).dtype == torch.float32


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((lambda batch: batch, logits), "adapt takes a torch.nn.Module first, not a function"),
        ((nn.Linear(2, 2), "logits"), r"adapt takes a function of \(model, batch\) second, not a str; for"),
    ],
)
def test_what_cannot_be_adapted_is_refused(arguments, sentence, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # as a user runs it
    with pytest.raises(PenstockError, match=sentence):
        adapt(*arguments)
