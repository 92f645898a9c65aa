"""A chain of linear layers and ReLUs: stacked products, with a backward pass written out.

At batch 32 autograd needs as long as the products do; the chain rule on a chain is five lines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from penstock.errors import PenstockError
from penstock.training.ways.stacking import held, trained
from penstock.training.ways.way import Batch, Named, Slope, Way

__all__ = ["Chain", "Link", "has_hooks", "links_of"]


@dataclass(frozen=True)
class Link:
    """One linear layer, by the names of its tensors, and the gate behind it: None where there is none,
    otherwise the slope of a shut one (0 for ReLU)."""

    weight: str
    bias: str | None
    shut: float | None


class Chain(Way):
    """`nn.Sequential` of Linear, ReLU or LeakyReLU, Flatten and Identity: `torch.baddbmm` on stacked weights.

    >>> repr(Chain([nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))]))
    'Chain: the model is a chain of linear layers and ReLUs'
    """

    why = "the model is a chain of linear layers and ReLUs"

    def __init__(self, models: Sequence[nn.Module]):
        links = links_of(models[0], flat=True)
        if links is None:
            raise PenstockError(
                f"{type(models[0]).__name__} is no chain of linear layers; stack it by Mapped"
            )
        self._links = links
        self._trained = trained(models)
        self._held = held(models)
        moves = [link.weight in self._trained or link.bias in self._trained for link in links]
        self._lowest = moves.index(True)

    def parameters(self) -> dict[str, Tensor]:
        return self._trained

    def outputs(self, parameters: Named, batch: Batch) -> Float[Tensor, "e b o"]:
        tensors = {**self._held, **parameters}
        signal = _rows(batch.x)
        for link in self._links:
            signal = _linear(tensors, link, signal)
            if link.shut is not None:
                signal = F.leaky_relu(signal, link.shut) if link.shut else signal.relu()
        return signal

    @torch.no_grad()
    def gradients(self, parameters: Named, batch: Batch, slope: Slope, into: Named) -> None:
        tensors = {**self._held, **parameters}
        signals = [_rows(batch.x)]
        for link in self._links:
            signal = _linear(tensors, link, signals[-1])
            if link.shut is not None:
                signal = F.leaky_relu_(signal, link.shut) if link.shut else signal.relu_()
            signals.append(signal)
        back = slope(signals[-1])
        for place in range(len(self._links) - 1, self._lowest - 1, -1):
            link, above = self._links[place], signals[place + 1]
            if link.shut is not None:
                # a gate is open where what it let through is positive: the slope keeps the sign
                back = (
                    torch.ops.aten.leaky_relu_backward(back, above, link.shut, True)
                    if link.shut
                    else torch.ops.aten.threshold_backward(back, above, 0)
                )
            if link.weight in into:
                torch.bmm(back.mT, signals[place], out=into[link.weight])
            if link.bias is not None and link.bias in into:
                torch.sum(back, 1, out=into[link.bias])
            if place > self._lowest:
                back = torch.bmm(back, tensors[link.weight])


def _rows(x: Tensor) -> Float[Tensor, "e b i"]:
    return x if x.ndim == 3 else x.flatten(2)


def _linear(tensors: Named, link: Link, signal: Float[Tensor, "e b i"]) -> Float[Tensor, "e b o"]:
    weight = tensors[link.weight].mT
    if link.bias is None:
        return torch.bmm(signal, weight)
    return torch.baddbmm(tensors[link.bias].unsqueeze(1), signal, weight)


def links_of(model: nn.Module, *, flat: bool) -> list[Link] | None:
    """The links of a module that is a chain of linear layers; None where it is anything else. `flat`: whether
    an example is a vector, so that no layer has to flatten it."""
    links: list[Link] = []
    for path, layer in _layers(model, ""):
        match layer:
            case nn.Flatten() if not links and (layer.start_dim, layer.end_dim) == (1, -1):
                flat = True
            case nn.Linear() if flat:
                links.append(Link(f"{path}weight", f"{path}bias" if layer.bias is not None else None, None))
            case nn.ReLU() if links and links[-1].shut is None:
                links[-1] = replace(links[-1], shut=0.0)
            case nn.LeakyReLU() if links and links[-1].shut is None and layer.negative_slope > 0:
                links[-1] = replace(links[-1], shut=float(layer.negative_slope))
            case nn.Identity():
                pass
            case _:
                return None
    weights = [id(parameter) for parameter in model.parameters()]
    whole = len(weights) == sum(1 + (link.bias is not None) for link in links)
    return links if links and whole else None


def _layers(module: nn.Module, path: str) -> Iterator[tuple[str, nn.Module]]:
    """The layers of nested `nn.Sequential`s in order. One with a hook, or a forward of its own, stays whole
    and is no link."""
    if type(module) is nn.Sequential and not _is_changed(module):
        for name, child in module._modules.items():
            assert child is not None
            yield from _layers(child, f"{path}{name}.")
    else:
        yield path, module if type(module) in _LINKS and not _is_changed(module) else nn.Module()


_LINKS = (nn.Flatten, nn.Linear, nn.ReLU, nn.LeakyReLU, nn.Identity)


def _is_changed(module: nn.Module) -> bool:
    return "forward" in vars(module) or has_hooks(module)


def has_hooks(module: nn.Module) -> bool:
    return any(
        (module._forward_hooks, module._forward_pre_hooks, module._backward_hooks, module._backward_pre_hooks)
    )
