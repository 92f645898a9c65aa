"""Gates that are numbers of any making: nobody read them from a signal, and they multiply one."""

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from penstock.errors import PenstockError
from penstock.gates.kind import Kind

__all__ = ["Factor"]


@dataclass(frozen=True)
class Factor(Kind):
    """Gates from outside. The pattern is what the signal is multiplied by."""

    hard: ClassVar[bool] = False

    def read(self, q: Float[Tensor, "n *shape"]) -> Float[Tensor, "n *shape"]:
        raise PenstockError("gates from outside are not read from a signal; give them with gates=")

    def apply(
        self, q: Float[Tensor, "n *shape"], pattern: Float[Tensor, "#n *shape"]
    ) -> Float[Tensor, "n *shape"]:
        return q * pattern

    def value(self, pattern: Float[Tensor, "n *shape"]) -> Float[Tensor, "n *shape"]:
        return pattern

    def __str__(self) -> str:
        return "from outside"
