"""The laws that the papers draw weights from, by their names: ±σ, Gaussian, Glorot uniform.

A law draws one weight tensor from the generator that it is given, so that a network of the laboratory never
touches torch's global random state.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor, nn

__all__ = ["Bernoulli", "Gaussian", "GlorotUniform", "Law"]


@dataclass(frozen=True)
class Bernoulli:
    """+σ or -σ with probability one half each (N Theorem 5.1, D Assumption 1)."""

    sigma: float
    """The size of every weight."""

    def draw(self, shape: Sequence[int], generator: Generator, dtype: torch.dtype) -> Tensor:
        signs = torch.randint(2, tuple(shape), generator=generator, dtype=dtype).mul_(2).sub_(1)
        return self.sigma * signs


@dataclass(frozen=True)
class Gaussian:
    """Normal weights of mean zero and standard deviation σ."""

    sigma: float
    """The standard deviation of every weight."""

    def draw(self, shape: Sequence[int], generator: Generator, dtype: torch.dtype) -> Tensor:
        return self.sigma * torch.randn(tuple(shape), generator=generator, dtype=dtype)


@dataclass(frozen=True)
class GlorotUniform:
    """Uniform on ±√(6 / (fan-in + fan-out)), where N's networks of Table 2 start."""

    def draw(self, shape: Sequence[int], generator: Generator, dtype: torch.dtype) -> Tensor:
        return nn.init.xavier_uniform_(torch.empty(tuple(shape), dtype=dtype), generator=generator)


Law = Bernoulli | Gaussian | GlorotUniform
