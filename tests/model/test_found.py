"""Whatever happens inside, the model is afterwards what it was before."""

import copy
import random
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from networks.awkward import SelfDeleting
from penstock.model import left_as_found


def small() -> Any:
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))


def test_the_mode_of_every_layer_comes_back_one_by_one():
    model = small()
    model[1].eval()
    with left_as_found(model):
        model.eval()
        model[1].train()
    assert [module.training for module in model.modules()] == [True, True, False, True, True]


def test_running_statistics_and_their_counter_come_back():
    model = small()
    before = copy.deepcopy(model.state_dict())
    with left_as_found(model):
        model(torch.randn(8, 3))
        assert model[1].num_batches_tracked == 1
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_a_buffer_that_was_written_behind_autograds_back_comes_back():
    model = small()
    with left_as_found(model):
        model[1].running_mean.data.fill_(7.0)
    assert torch.equal(model[1].running_mean, torch.zeros(4))


def test_a_buffer_that_was_replaced_or_resized_comes_back_as_the_same_tensor():
    model = small()
    mean, var = model[1].running_mean, model[1].running_var
    with left_as_found(model):
        model[1].running_mean = torch.ones(4)
        var.resize_(9).zero_()
    assert model[1].running_mean is mean
    assert model[1].running_var is var
    assert torch.equal(var, torch.ones(4))


def test_a_buffer_that_nobody_changed_is_not_written():
    # a graph of the user's that saved it would otherwise no longer run backward
    model = small()
    loss = model.eval()(torch.randn(5, 3)).sum()
    with left_as_found(model):
        pass
    loss.backward()


def test_gradients_come_back_untouched_and_are_out_of_the_way_inside():
    model = small()
    model(torch.randn(5, 3)).sum().backward()
    grads = [parameter.grad for parameter in model.parameters()]
    values = [grad.clone() for grad in grads]
    with left_as_found(model):
        assert all(parameter.grad is None for parameter in model.parameters())
        model(torch.randn(5, 3)).sum().backward()
    assert all(parameter.grad is grad for parameter, grad in zip(model.parameters(), grads, strict=True))
    assert all(torch.equal(grad, value) for grad, value in zip(grads, values, strict=True))


def test_a_gradient_that_was_none_is_none_again():
    model = small()
    with left_as_found(model):
        model(torch.randn(5, 3)).sum().backward()
    assert all(parameter.grad is None for parameter in model.parameters())


def test_requires_grad_comes_back():
    model = small()
    model[0].weight.requires_grad_(False)
    with left_as_found(model):
        model.requires_grad_(False)
        model[0].weight.requires_grad_(True)
    assert [parameter.requires_grad for parameter in model.parameters()] == [
        False,
        True,
        True,
        True,
        True,
        True,
    ]


def test_hooks_come_back_and_their_handles_stay_good():
    model = small()
    handle = model[0].register_forward_hook(lambda module, args, y: None)
    with left_as_found(model):
        model[0].register_forward_hook(lambda module, args, y: None)
        model[2].register_full_backward_hook(lambda module, grad_in, grad_out: None)
        model[3].register_forward_pre_hook(lambda module, args: None, with_kwargs=False)
        handle.remove()
    assert len(model[0]._forward_hooks) == 1
    assert not model[2]._backward_hooks
    assert not model[3]._forward_pre_hooks
    handle.remove()
    assert not model[0]._forward_hooks


def test_attributes_and_children_come_back():
    torch.manual_seed(0)
    model = SelfDeleting()
    model.kept = kept = torch.ones(2)
    once = model.once
    x = torch.randn(3, 4)
    with left_as_found(model):
        first = model(x)
        with pytest.raises(AttributeError):
            model(x)
    assert model.once is once
    assert model.kept is kept
    assert model.calls == 0
    assert torch.equal(model.seen, torch.zeros(4))
    assert not model.last._forward_hooks
    assert model.first.weight.requires_grad
    with left_as_found(model):
        assert torch.equal(model(x), first)


def test_what_a_layer_keeps_in_a_register_of_its_own_comes_back():
    model = small()
    model._cache = cache = defaultdict(list, seen=[1])
    model._names = {"a"}
    with left_as_found(model):
        model._cache["more"].append(2)
        model._names.add("b")
    assert model._cache is cache
    assert dict(cache) == {"seen": [1]}
    assert model._names == {"a"}


def test_random_states_of_torch_numpy_and_python_come_back():
    torch.manual_seed(1)
    np.random.seed(1)
    random.seed(1)
    with left_as_found(small()):
        inside = torch.rand(3), np.random.rand(3), random.random()
    assert torch.equal(torch.rand(3), inside[0])
    assert np.array_equal(np.random.rand(3), inside[1])
    assert random.random() == inside[2]


@pytest.mark.parametrize("stop", [ValueError, KeyboardInterrupt, SystemExit])
def test_all_comes_back_after_an_error_or_an_interruption_too(stop):
    model = small()
    model(torch.randn(5, 3)).sum().backward()
    state = copy.deepcopy(model.state_dict())
    grads = [parameter.grad for parameter in model.parameters()]
    draws = torch.get_rng_state()

    def interfere():
        model(torch.randn(9, 3))
        model.eval()
        model.mark = 1
        raise stop

    with pytest.raises(stop), left_as_found(model):
        interfere()
    assert model.training
    assert not hasattr(model, "mark")
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert all(parameter.grad is grad for parameter, grad in zip(model.parameters(), grads, strict=True))
    assert torch.equal(torch.get_rng_state(), draws)


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
def test_a_scripted_layer_is_no_obstacle():
    model = nn.Sequential(torch.jit.script(nn.Linear(3, 3)), nn.ReLU())
    with left_as_found(model):
        model(torch.ones(1, 3)).sum().backward()
    assert all(parameter.grad is None for parameter in model.parameters())


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_the_random_state_of_cuda_comes_back():
    torch.cuda.manual_seed(1)
    with left_as_found(small().cuda()):
        inside = torch.rand(3, device="cuda")
    assert torch.equal(torch.rand(3, device="cuda"), inside)
