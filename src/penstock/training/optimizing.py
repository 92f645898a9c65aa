"""torch's own optimizers on an ensemble's flat parameters."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from penstock.training.flat import Flat
from penstock.training.recipe import SGD, Adam, Optimizer, RMSprop

__all__ = ["Optimizing"]


class Optimizing:
    """One optimizer for E members. Where all have the same numbers it moves one tensor; otherwise members
    that stand side by side and have the same numbers are one group of it."""

    def __init__(self, flat: Flat, optimizers: Sequence[Optimizer], *, scheduled: bool = False):
        starts = [0, *(k + 1 for k, (a, b) in enumerate(pairwise(optimizers)) if a != b), len(optimizers)]
        self._rates = [optimizers[start].rate for start in starts[:-1]]
        self._factor = 1.0
        on_cuda = flat.numbers.is_cuda
        groups = []
        for (start, stop), rate in zip(pairwise(starts), self._rates, strict=True):
            # a captured graph reads the rate where it lies
            lr = torch.tensor(rate, device=flat.numbers.device) if on_cuda and scheduled else rate
            options = _options(optimizers[start])
            groups.append({"params": _tensors(flat, start, stop), **options, "lr": lr})
        kind, flags = _kind(optimizers[0], on_cuda=on_cuda)
        self.torch: torch.optim.Optimizer = kind(groups, **flags)

    def step(self) -> None:
        self.torch.step()

    def scale(self, factor: float) -> None:
        """Multiply every rate by the schedule's factor."""
        if factor == self._factor:
            return
        self._factor = factor
        for group, rate in zip(self.torch.param_groups, self._rates, strict=True):
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate * factor)
            else:
                group["lr"] = rate * factor

    def state(self) -> dict[str, Tensor]:
        """Every tensor that the optimizer keeps, by the number of what it moves and its name."""
        return {
            f"{place}.{name}": value
            for place, tensor in enumerate(self._moved())
            for name, value in self.torch.state[tensor].items()
            if isinstance(value, Tensor)
        }

    def restore(self, state: dict[str, Tensor]) -> None:
        """Put back what `state` gave."""
        moved = list(self._moved())
        for key, value in state.items():
            place, name = key.split(".")
            # also the count of steps lies where the parameters lie: a captured step reads it there
            tensor = moved[int(place)]
            self.torch.state[tensor][name] = value.to(tensor.device, copy=True)

    def _moved(self) -> Iterator[Tensor]:
        for group in self.torch.param_groups:
            yield from group["params"]


def _tensors(flat: Flat, start: int, stop: int) -> list[nn.Parameter]:
    """What belongs to these members, with its gradients: everything as one, if they are all there are."""
    if stop - start == flat.members:
        pairs = [(flat.numbers, flat.gradients)]
    else:
        pairs = [
            (flat.parameters[name][start:stop], flat.slopes[name][start:stop]) for name in flat.parameters
        ]
    tensors = []
    for numbers, gradients in pairs:
        tensor = nn.Parameter(numbers)
        tensor.grad = gradients
        tensors.append(tensor)
    return tensors


def _options(optimizer: Optimizer) -> dict:
    match optimizer:
        case SGD():
            return {"momentum": optimizer.momentum}
        case Adam():
            return {"betas": tuple(optimizer.betas), "eps": optimizer.epsilon}
        case RMSprop():
            return {"alpha": optimizer.decay, "eps": optimizer.epsilon, "momentum": optimizer.momentum}


def _kind(optimizer: Optimizer, *, on_cuda: bool) -> tuple[type[torch.optim.Optimizer], dict]:
    match optimizer:
        case SGD():
            return torch.optim.SGD, {"fused": True}
        case Adam():
            return torch.optim.Adam, {"fused": True, "capturable": on_cuda}
        case RMSprop():
            return torch.optim.RMSprop, {"foreach": True, "capturable": on_cuda}
