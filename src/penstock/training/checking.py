"""What can be seen to be wrong before a training begins."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.modules.batchnorm import _BatchNorm

from penstock.errors import PenstockError
from penstock.model import call, left_as_found, placement
from penstock.training.examples import Examples
from penstock.training.member import Member
from penstock.training.recipe import Recipe
from penstock.training.some_examples import portion
from penstock.training.ways.modes import mode

__all__ = ["check"]

_ROWS = 2


def check(members: Sequence[Member], train: Examples, test: Examples | None, recipe: Recipe) -> None:
    """Members with names of their own and something to train; examples that fit them and the loss."""
    _check_members(members)
    for what, examples in (("the training set", train), ("the test set", test)):
        if examples is not None:
            _check_examples(what, examples, train, recipe)
            for member in members:
                _check_fit(member, what, examples, recipe)
    for member in members:
        _check_last_batch(member, train, recipe)


def _check_members(members: Sequence[Member]) -> None:
    if not members:
        raise PenstockError("there is no member to train; give at least one Member(name, model, seed)")
    names: set[str] = set()
    owners: dict[int, str] = {}
    for member in members:
        if member.name in names:
            raise PenstockError(f"two members are called {member.name!r}; give each a name of its own")
        names.add(member.name)
        placement(member.model)
        if not any(parameter.requires_grad for parameter in member.model.parameters()):
            raise PenstockError(
                f"the member {member.name!r} has no parameter that requires gradients, so there is nothing "
                "to train; call requires_grad_() on what should be"
            )
        for tensor in (*member.model.parameters(), *member.model.buffers()):
            owner = owners.setdefault(id(tensor), member.name)
            if owner != member.name:
                raise PenstockError(
                    f"the members {owner!r} and {member.name!r} share a tensor, and would be trained on top "
                    "of each other; give each a copy: copy.deepcopy(model)"
                )


def _check_examples(what: str, examples: Examples, train: Examples, recipe: Recipe) -> None:
    x, y = examples
    if not examples.count:
        raise PenstockError(f"{what} has no examples; give it at least one")
    if x.shape[1:] != train.x.shape[1:]:
        raise PenstockError(
            f"an example of {what} has shape {_shape(x)} and one of the training set {_shape(train.x)}; "
            "bring them to one shape"
        )
    finite = torch.isfinite(x)
    if not bool(finite.all()):
        row = int((~finite).flatten(1).any(1).nonzero()[0])
        raise PenstockError(
            f"x of {what} has a number that is not finite in row {row}; leave the row out or repair it"
        )
    if recipe.loss == "cross entropy":
        if y.is_floating_point() or y.dtype == torch.bool or y.ndim != 1:
            raise PenstockError(
                f"cross entropy takes one whole number an example, and y of {what} is {y.dtype} of shape "
                f"{tuple(y.shape)}; convert it, or choose a squared loss"
            )
    elif not y.is_floating_point():
        raise PenstockError(
            f"a squared loss takes targets in floating point, and y of {what} is {y.dtype}; convert it, or "
            "choose loss='cross entropy'"
        )


def _check_fit(member: Member, what: str, examples: Examples, recipe: Recipe) -> None:
    x, y = examples
    where = placement(member.model)
    if where.dtype is not None and x.dtype != where.dtype:
        raise PenstockError(
            f"x of {what} is {x.dtype} and the member {member.name!r} is {where.dtype}; convert one: "
            f"examples.to(dtype={where.dtype})"
        )
    if where.device is not None and {x.device, y.device} != {where.device}:
        raise PenstockError(
            f"{what} is on {x.device} and the member {member.name!r} on {where.device}; move one: "
            f"examples.to('{where.device}')"
        )
    with left_as_found(member.model), torch.no_grad(), portion(member.model, slice(0, _ROWS)):
        outputs = call(member.model.eval(), x[:_ROWS])
    if recipe.loss == "cross entropy":
        _check_labels(what, y, outputs, member)
    elif outputs.shape[1:] != y.shape[1:]:
        wanted = (len(y), *outputs.shape[1:])
        raise PenstockError(
            f"the member {member.name!r} gives outputs of shape {_shape(outputs)} an example and y of {what} "
            f"has {_shape(y)}; reshape y, for instance y.reshape({', '.join(map(str, wanted))})"
        )
    elif y.dtype != outputs.dtype:
        raise PenstockError(
            f"y of {what} is {y.dtype} and the outputs of the member {member.name!r} are {outputs.dtype}; "
            f"convert it: examples.to(dtype={outputs.dtype})"
        )


def _check_last_batch(member: Member, train: Examples, recipe: Recipe) -> None:
    """Statistics of a batch want more than one number a channel."""
    size = recipe.batch or train.count
    if train.count % size != 1 % size or not any(
        isinstance(layer, _BatchNorm) for layer in member.model.modules()
    ):
        return
    try:
        with left_as_found(member.model), torch.no_grad(), mode(member.model, training=True):
            member.model(train.x[:1])
    except ValueError as error:
        raise PenstockError(
            f"the last batch of an epoch has one example, and BatchNorm in the member {member.name!r} takes "
            f"two or more; choose a batch size that leaves another rest of {train.count:,}"
        ) from error


def _check_labels(what: str, y: Tensor, outputs: Tensor, member: Member) -> None:
    if outputs.ndim != 2:
        raise PenstockError(
            f"cross entropy takes one row of outputs an example, and the member {member.name!r} gives "
            f"{_shape(outputs)}; flatten or pool them"
        )
    classes = outputs.shape[1]
    if int(y.min()) < 0 or int(y.max()) >= classes:
        row = int(((y < 0) | (y >= classes)).nonzero()[0])
        raise PenstockError(
            f"row {row} of {what} has the label {int(y[row])}, and the {classes} outputs of the member "
            f"{member.name!r} stand for 0 to {classes - 1}; give labels in that range"
        )


def _shape(x: Tensor) -> str:
    return "×".join(map(str, x.shape[1:])) or "1 number"
