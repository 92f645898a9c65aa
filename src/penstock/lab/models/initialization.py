"""The laws that the papers draw weights from, by their names: ±σ, Gaussian, Glorot uniform, He.

A law draws one weight tensor from the generator that it is given, so that a network of the laboratory never
touches torch's global random state. It can also fill a weight that is there, as those of `torch.nn.init` do,
and so be the `init=` of `penstock.regime`.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor, nn

from penstock.errors import PenstockError, nearest

__all__ = [
    "LAWS",
    "Bernoulli",
    "BernoulliOfFanIn",
    "Gaussian",
    "GlorotUniform",
    "He",
    "Law",
    "NamedLaw",
    "law_named",
    "law_of",
]


class Law(ABC):
    """How one weight tensor is drawn. The first dimension counts outputs, the others make the fan-in.

    >>> weight = torch.empty(3, 2)
    >>> He()(weight, generator=torch.Generator().manual_seed(0)) is weight
    True
    """

    @abstractmethod
    def draw(self, shape: Sequence[int], generator: Generator, dtype: torch.dtype) -> Tensor:
        """A fresh weight of this shape, on the generator's device."""

    def __call__(self, weight: Tensor, *, generator: Generator | None = None) -> Tensor:
        """Fill `weight` in place. Without a generator, the numbers are those of torch's global state."""
        drawn = self.draw(tuple(weight.shape), generator or torch.default_generator, weight.dtype)
        with torch.no_grad():
            return weight.copy_(drawn)


@dataclass(frozen=True)
class Bernoulli(Law):
    """+σ or -σ with probability one half each (N Theorem 5.1, D Assumption 1)."""

    sigma: float
    """The size of every weight; N's theory has one for all layers, the first one too."""

    def draw(self, shape: Sequence[int], generator: Generator, dtype: torch.dtype) -> Tensor:
        bits = torch.randint(2, tuple(shape), generator=generator, dtype=dtype, device=generator.device)
        return self.sigma * bits.mul_(2).sub_(1)


@dataclass(frozen=True)
class BernoulliOfFanIn(Law):
    """±√(2 / fan-in), half each: ±√(2/w) above the first layer (N Section 6.2.5, D Experiment 1).

    N's theory takes √(2/w) in the first layer too, where this law takes √(2/d_in): for that, `Bernoulli`.
    """

    def draw(self, shape: Sequence[int], generator: Generator, dtype: torch.dtype) -> Tensor:
        return Bernoulli(math.sqrt(2 / _fan_in(shape))).draw(shape, generator, dtype)


@dataclass(frozen=True)
class Gaussian(Law):
    """Normal weights of mean zero and standard deviation σ."""

    sigma: float
    """The standard deviation of every weight."""

    def draw(self, shape: Sequence[int], generator: Generator, dtype: torch.dtype) -> Tensor:
        return self.sigma * torch.randn(
            tuple(shape), generator=generator, dtype=dtype, device=generator.device
        )


@dataclass(frozen=True)
class He(Law):
    """Normal weights of standard deviation √(2 / fan-in), `torch.nn.init.kaiming_normal_` for ReLUs."""

    def draw(self, shape: Sequence[int], generator: Generator, dtype: torch.dtype) -> Tensor:
        return Gaussian(math.sqrt(2 / _fan_in(shape))).draw(shape, generator, dtype)


@dataclass(frozen=True)
class GlorotUniform(Law):
    """Uniform on ±√(6 / (fan-in + fan-out)), where N's networks of Table 2 start."""

    def draw(self, shape: Sequence[int], generator: Generator, dtype: torch.dtype) -> Tensor:
        _fan_in(shape)
        empty = torch.empty(tuple(shape), dtype=dtype, device=generator.device)
        return nn.init.xavier_uniform_(empty, generator=generator)


def _fan_in(shape: Sequence[int]) -> int:
    if len(shape) < 2:
        raise PenstockError(
            f"a weight of shape {tuple(shape)} has no fan-in; give outputs × inputs, and a kernel's size "
            "after them"
        )
    return math.prod(shape[1:])


LAWS: dict[str, Law] = {"glorot uniform": GlorotUniform(), "he": He(), "bernoulli": BernoulliOfFanIn()}
"""The laws whose size follows from the layer, as a setting names them."""

_SIZED: dict[str, type[Bernoulli | Gaussian]] = {"bernoulli": Bernoulli, "gaussian": Gaussian}


NamedLaw = Law | str
"""A law, or the name of one of `LAWS`."""


def law_of(law: NamedLaw) -> Law:
    """The law itself, of a law or a name."""
    return law_named(law) if isinstance(law, str) else law


def law_named(name: str, *, sigma: float | None = None) -> Law:
    """The law that a setting names: one of `LAWS`, or with σ given, `"bernoulli"` or `"gaussian"` of that
    size.

    >>> law_named("bernoulli"), law_named("bernoulli", sigma=0.5)
    (BernoulliOfFanIn(), Bernoulli(sigma=0.5))
    """
    if sigma is None and name in LAWS:
        return LAWS[name]
    if sigma is not None and name in _SIZED:
        return _SIZED[name](sigma)
    if name in LAWS:
        raise PenstockError(f"the law {name!r} takes its size from the layer; leave sigma= out")
    if name in _SIZED:
        raise PenstockError(f"the law {name!r} needs a size: sigma=")
    raise PenstockError(f"there is no law called {name!r}; {nearest(name, [*LAWS, *_SIZED])}")
