"""Which way members that are decoupled networks are evaluated; None for what any module gets."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from penstock.decoupled.outside import FixedGates
from penstock.decoupled.ways.fixed import Fixed
from penstock.decoupled.ways.fixed_chain import FixedChain
from penstock.decoupled.ways.learnt_chain import LearntChain
from penstock.gates.gate import Hard, Soft
from penstock.model import call, left_as_found
from penstock.training.some_examples import portion
from penstock.training.ways.chain import links_of
from penstock.training.ways.modes import mode
from penstock.training.ways.rehearsal import draws
from penstock.training.ways.way import Way

if TYPE_CHECKING:
    from penstock.decoupled.network import GatedNetwork

__all__ = ["way_for"]

# Enough for what asks for more than one example (BatchNorm in training mode).
_ROWS = 4


def way_for(models: "Sequence[GatedNetwork]", x: Tensor, memory: int) -> Way | None:
    """Chains of linear layers are written out; other networks with fixed hard gates look their gates up."""
    first = models[0]
    for model in models:
        _rehearse(model, x)
    tied = next(first.feature.parameters(), None) is next(first.value.parameters(), 0)
    links = links_of(first.value, flat=x.ndim == 2)
    if not first.outside and not tied and links is not None and links_of(first.feature, flat=x.ndim == 2):
        if first.gates_are_fixed and first.gate == Hard() and first.feature_gate == Hard():
            return FixedChain(models, links, memory)
        if isinstance(first.gate, Soft) and first.feature_gate in (Hard(), first.gate):
            return LearntChain(models, links)
    hard = first.gate == Hard() and first.feature_gate == Hard() and not first.outside
    if not first.gates_are_fixed or not (hard or isinstance(first.feature, FixedGates)):
        return None
    return None if draws(first.value, x) else Fixed(models, memory)


def _rehearse(model: "GatedNetwork", x: Tensor) -> None:
    """A pass in each mode, where a watch looks for gates that it does not see: under `vmap` it could not."""
    for training in (True, False):
        few = slice(0, _ROWS)
        with left_as_found(model), torch.no_grad(), mode(model, training=training), portion(model, few):
            call(model, x[few])
