"""What all gates have in common: every unit's paths pass its gate, and go on through the same node."""

from abc import abstractmethod
from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from penstock.gates.kind import Kind
from penstock.walk.edges import Edges
from penstock.walk.operation import Operation
from penstock.walk.site import Site

__all__ = ["Gating"]


class Gating(Operation):
    """An operation that multiplies each unit by a gate.

    What its gates are is said once, by its kind in `penstock.gates`.
    """

    @abstractmethod
    def kind(self, site: Site) -> Kind:
        """What the step's gates mean."""

    def edges(self, site: Site) -> Iterator[Edges]:
        yield Edges(site.outputs, site.nodes("self"), gate=site.outputs)

    def gates(self, site: Site, q: Float[Tensor, "*shape"], n: int) -> Float[Tensor, "n gates"]:
        """What each unit is multiplied by, for the pre-activations of n examples."""
        kind = self.kind(site)
        pattern = kind.read(q)
        factor = kind.apply(torch.ones_like(q), pattern) - kind.apply(torch.zeros_like(q), pattern)
        return factor.reshape(n, -1)
