"""torch's own optimizers on an ensemble's flat parameters."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from penstock.training.flat import Flat
from penstock.training.recipe import SGD, Adam, Optimizer, RMSprop

__all__ = ["Optimizing"]


class Optimizing:
    """One optimizer for E members. Members that stand side by side and have the same numbers share one
    tensor; the others have a group of their own."""

    def __init__(self, flat: Flat, optimizers: Sequence[Optimizer]):
        starts = [0, *(k + 1 for k, (a, b) in enumerate(pairwise(optimizers)) if a != b), len(optimizers)]
        self._rates = [optimizers[start].rate for start in starts[:-1]]
        self._factor = 1.0
        groups = []
        for (start, stop), rate in zip(pairwise(starts), self._rates, strict=True):
            tensor = nn.Parameter(flat.numbers[start:stop])
            tensor.grad = flat.gradients[start:stop]
            # a captured graph reads the rate where it lies
            lr = torch.tensor(rate, device=tensor.device) if tensor.is_cuda else rate
            groups.append({"params": [tensor], **_options(optimizers[start]), "lr": lr})
        kind, flags = _kind(optimizers[0], on_cuda=flat.numbers.is_cuda)
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
        """Every tensor that the optimizer keeps, by group and name."""
        return {f"{place}.{name}": tensor for place, name, tensor, _ in self._kept()}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Put back what `state` gave."""
        for place, group in enumerate(self.torch.param_groups):
            (tensor,) = group["params"]
            for key, value in state.items():
                at, name = key.split(".")
                if int(at) == place:
                    # steps are counted where torch counts them, moments lie beside the numbers
                    where = tensor.device if value.ndim or _counts_on_device(group) else value.device
                    self.torch.state[tensor][name] = value.to(where).clone()

    def _kept(self) -> Iterator[tuple[int, str, Tensor, Tensor]]:
        for place, group in enumerate(self.torch.param_groups):
            (tensor,) = group["params"]
            for name, value in self.torch.state[tensor].items():
                if isinstance(value, Tensor):
                    yield place, name, value, tensor


def _counts_on_device(group: dict) -> bool:
    return bool(group.get("capturable") or group.get("fused"))


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
