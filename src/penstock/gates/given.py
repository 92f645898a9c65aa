"""Gates that do not come from the signal they multiply: those that one network makes and another one uses.

To multiply a signal by such gates is one call of `multiplied`, and a watch sees it as it sees a call of
torch.relu. So a decoupled network can be captured, its record proved complete, and its gates held or replaced
like anybody's.
"""

from dataclasses import dataclass, field
from typing import Any

from jaxtyping import Bool, Float, Shaped
from torch import Tensor
from torch.overrides import handle_torch_function, has_torch_function

from penstock.gates.kind import Kind

__all__ = ["Given", "multiplied"]


@dataclass(frozen=True)
class Given(Kind):
    """Gates of some kind, read from elsewhere. The kind does not look at the signal: its pattern is there."""

    kind: Kind
    """What the gates mean."""
    pattern: Shaped[Tensor, "n *gates"] | None = field(default=None, compare=False, repr=False)
    """What was read. A record keeps none here: it has the gates themselves."""
    function: str = field(default="multiplied", compare=False, repr=False)
    """What the call is named after: the function whose place it takes."""

    @property
    def hard(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.kind.hard

    @property
    def shut(self) -> float:
        return self.kind.shut

    def read(self, q: Float[Tensor, "n *shape"]) -> Shaped[Tensor, "n *gates"]:
        assert self.pattern is not None
        return self.pattern

    def apply(
        self, q: Float[Tensor, "n *shape"], pattern: Shaped[Tensor, "n *gates"]
    ) -> Float[Tensor, "n *out"]:
        return self.kind.apply(q, pattern)

    def value(self, pattern: Shaped[Tensor, "n *gates"]) -> Float[Tensor, "n *gates"]:
        return self.kind.value(pattern)

    def gate_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self.kind.gate_shape(shape)

    def detached(self) -> "Given":
        return Given(self.kind.detached())

    def planes(self, pattern: Shaped[Tensor, "n *gates"]) -> tuple[Bool[Tensor, "n *gates"], ...]:
        return self.kind.planes(pattern)

    def join(self, planes: tuple[Bool[Tensor, "n *gates"], ...]) -> Shaped[Tensor, "n *gates"]:
        return self.kind.join(planes)

    def __str__(self) -> str:
        return f"{self.kind}, given"


def multiplied(input: Float[Tensor, "n *shape"], given: Given) -> Any:
    """The signal times gates that are given."""
    if has_torch_function((input,)):
        return handle_torch_function(multiplied, (input,), input, given)
    return given.apply(input, given.read(input))
