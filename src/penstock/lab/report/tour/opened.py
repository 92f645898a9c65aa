"""The network of N Figure 1 on three inputs: everything that the tour tells of it, asked of the library."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

import penstock
from penstock.lab.models.toy import toy_inputs, toy_network

__all__ = ["WIDTHS", "Opened", "open_network"]

WIDTHS = (2, 3, 3, 1)


@dataclass(frozen=True)
class Opened:
    """A network and what the library says of it: n inputs, P paths."""

    model: nn.Module
    x: Tensor
    output: Tensor
    gates: list[Tensor]
    """One layer after the other, n × units."""
    paths: list[tuple[int, ...]]
    """In the order of N Figure 1: a node of every layer, from the input to the output."""
    features: Tensor
    """n × P."""
    values: Tensor
    """P."""
    shared: list[Tensor]
    """τ of each layer, n × n: how many gates two inputs both have open."""
    value_kernel: Tensor
    """𝒱, P × P."""
    jacobian_kernel: Tensor
    """K from autograd's derivatives of the output, n × n: what the listed paths are held against."""

    @property
    def shared_paths(self) -> Tensor:
        """Λ = Π τ (N Definition C.2)."""
        return torch.stack(self.shared).prod(dim=0)

    @property
    def gram(self) -> Tensor:
        """Σ."""
        return self.x @ self.x.T

    @property
    def path_kernel(self) -> Tensor:
        """H from the listed features (N Lemma 2.1)."""
        return self.features @ self.features.T

    @property
    def tangent_kernel(self) -> Tensor:
        """K = ΦᵀVΦ (N Proposition 3.1)."""
        return self.features @ self.value_kernel @ self.features.T


def open_network(model: nn.Module | None = None, x: Tensor | None = None) -> Opened:
    """Everything of a 2-3-3-1 network without biases; of the toy of N Figure 1 unless told."""
    model = toy_network() if model is None else model
    x = toy_inputs() if x is None else x
    record = penstock.capture(model, x)
    return Opened(
        model=model,
        x=x,
        output=model(x).detach()[:, 0],
        gates=list(record.to_dense().values()),
        paths=[tuple(path) for path in penstock.list_paths(model)],
        features=penstock.npf(model, x),
        values=penstock.npv(model),
        shared=[counts.double() for counts in record.overlap().values()],
        value_kernel=penstock.vtk(model),
        jacobian_kernel=_jacobian_kernel(model, x),
    )


def _jacobian_kernel(model: nn.Module, x: Tensor) -> Tensor:
    """J Jᵀ over all weights, one example after the other: no paths, no gates, autograd alone."""
    weights = list(model.parameters())
    rows = [
        torch.cat([part.flatten() for part in torch.autograd.grad(model(row[None]).sum(), weights)])
        for row in x
    ]
    jacobian = torch.stack(rows)
    return jacobian @ jacobian.T
