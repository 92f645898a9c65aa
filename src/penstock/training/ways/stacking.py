"""The tensors of modules of one shape, stacked by name."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

__all__ = ["held", "moving", "trained"]


def trained(models: Sequence[nn.Module]) -> dict[str, Tensor]:
    """The parameters that require gradients, each E × shape."""
    names = [name for name, parameter in models[0].named_parameters() if parameter.requires_grad]
    return _stacked([dict(model.named_parameters()) for model in models], names)


def held(models: Sequence[nn.Module]) -> dict[str, Tensor]:
    """The parameters that do not."""
    names = [name for name, parameter in models[0].named_parameters() if not parameter.requires_grad]
    return _stacked([dict(model.named_parameters()) for model in models], names)


def moving(models: Sequence[nn.Module]) -> dict[str, Tensor]:
    """The buffers."""
    names = [name for name, _ in models[0].named_buffers()]
    return _stacked([dict(model.named_buffers()) for model in models], names)


def _stacked(tensors: list[dict], names: list[str]) -> dict[str, Tensor]:
    return {name: torch.stack([each[name].detach() for each in tensors]) for name in names}
