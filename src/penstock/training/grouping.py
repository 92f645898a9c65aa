"""Which members can be trained at once: those of one shape, under one kind of optimizer."""

from collections.abc import Hashable, Sequence

from torch import nn

from penstock.training.member import Member
from penstock.training.recipe import Recipe

__all__ = ["groups"]


def groups(members: Sequence[Member], recipe: Recipe) -> list[list[Member]]:
    """Members that are alike, in order of the first of each kind."""
    alike: dict[Hashable, list[Member]] = {}
    for member in members:
        kind = type(member.optimizer or recipe.optimizer)
        alike.setdefault((kind, shape(member.model)), []).append(member)
    return list(alike.values())


def shape(model: nn.Module) -> Hashable:
    """What stacked modules must have in common: layers and their settings, modes, names and shapes of
    tensors, and which of them are trained."""
    layers = tuple((type(module), module.training) for module in model.modules())
    parameters = tuple(
        (name, tuple(each.shape), each.dtype, each.requires_grad) for name, each in model.named_parameters()
    )
    buffers = tuple((name, tuple(each.shape), each.dtype) for name, each in model.named_buffers())
    return repr(model), layers, parameters, buffers
