"""Networks whose weights move, as a step of training moves them."""

import copy

import torch
from torch import Tensor, nn

__all__ = ["fill", "moved", "normal", "step_to"]


def normal(seed: int, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def moved(model: nn.Module, seed: int, size: float) -> nn.Module:
    """The same model elsewhere: what an optimizer's step leaves."""
    other = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(size * torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype))
    return other


def step_to(model: nn.Module, other: nn.Module) -> None:
    model.load_state_dict(other.state_dict())


def fill(model: nn.Module, weight: float) -> None:
    """All weights of the first layer."""
    with torch.no_grad():
        model.get_parameter("0.weight").fill_(weight)
