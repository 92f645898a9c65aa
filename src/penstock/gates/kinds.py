"""The kinds of gates: what each of torch's ReLU-like functions means. Max-pooling stands in `choice.py`.

| function of torch | kind |
|---|---|
| relu, clamp from below at 0 | `Rectifier()` |
| leaky_relu, prelu | `Rectifier(slope)` |
| relu6, hardtanh | `Clipped(low, high)` |
| abs | `Magnitude()` |
| silu, gelu, and a soft gate | `Smooth(gate)` |
| max_pool, adaptive_max_pool | `Choice(…)`, `AdaptiveChoice(…)` |
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Bool, Float, Int64, UInt8
from torch import Tensor

from penstock.errors import PenstockError
from penstock.gates.choice import AdaptiveChoice, Choice
from penstock.gates.gate import Gate, Normal, NormalTanh, Soft
from penstock.gates.kind import Above, Kind
from penstock.gates.packed import pack_positive

__all__ = ["Above", "AdaptiveChoice", "Choice", "Clipped", "Kind", "Magnitude", "Rectifier", "Smooth"]


@dataclass(frozen=True, eq=False)
class Rectifier(Kind):
    """ReLU, LeakyReLU and PReLU: open where q > 0 (N Table 1); a shut gate multiplies by `slope`.

    `slope` is a number, or a tensor with one number a channel (dimension 1 of q), or with one for all.
    """

    slope: float | int | Tensor = 0.0

    @property
    def shut(self) -> float:
        return float(self.slope.detach().max() if isinstance(self.slope, Tensor) else self.slope)

    def read(self, q: Float[Tensor, "n *shape"]) -> Bool[Tensor, "n *shape"]:
        return q > 0

    def apply(
        self, q: Float[Tensor, "n *shape"], pattern: Bool[Tensor, "n *shape"]
    ) -> Float[Tensor, "n *shape"]:
        if isinstance(self.slope, Tensor):
            return torch.where(pattern, q, q * self.slope_for(q))
        return torch.where(pattern, q, q * self.slope if self.slope else torch.zeros_like(q))

    def value(self, pattern: Bool[Tensor, "n *shape"]) -> Float[Tensor, "n *shape"]:
        one = torch.ones((), device=pattern.device)
        return torch.where(pattern, one, self.slope_for(pattern).to(one.dtype))

    def pack(self, q: Float[Tensor, "n *shape"]) -> tuple[Int64[Tensor, "n words"], ...]:
        return (pack_positive(q),)

    def detached(self) -> "Rectifier":
        return Rectifier(self.slope.detach().clone()) if isinstance(self.slope, Tensor) else self

    def slope_for(self, like: Tensor) -> Tensor:
        """The slope, shaped so that it goes with a batch of pre-activations."""
        # a number is not rounded to float32 on its way to a wider dtype
        exact = None if isinstance(self.slope, Tensor) else torch.float64
        slope = torch.as_tensor(self.slope, dtype=exact, device=like.device)
        if slope.numel() == 1:
            return slope.reshape(())
        return slope.reshape(-1, *(1 for _ in like.shape[2:]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rectifier):
            return NotImplemented
        mine, its = torch.as_tensor(self.slope).cpu(), torch.as_tensor(other.slope).cpu()
        return torch.equal(mine.reshape(-1).double(), its.reshape(-1).double())

    def __hash__(self) -> int:
        return hash(Rectifier)

    def __str__(self) -> str:
        if isinstance(self.slope, Tensor):
            return "PReLU"
        return f"LeakyReLU {self.slope:g}" if self.slope else "ReLU"


@dataclass(frozen=True)
class Clipped(Kind):
    """ReLU6 and hardtanh. Three states: below `low` the gate is shut and the unit adds a held `low`, in
    between it is open, from `high` on it is shut again and the unit adds a held `high`. To take that last
    state for an open gate makes every path through it wrong. At `low` and `high` themselves the gate is shut,
    as torch's derivative is 0.

    The pattern is one of `SHUT`, `OPEN`, `HELD` for every gate.
    """

    low: float | int = 0.0
    high: float | int = 6.0

    SHUT: ClassVar[int] = 0
    OPEN: ClassVar[int] = 1
    HELD: ClassVar[int] = 2

    def __post_init__(self):
        if not self.low <= self.high:
            raise PenstockError(
                f"a clipped unit's low end must not lie above its high end, but {self.low} > {self.high}"
            )

    def read(self, q: Float[Tensor, "n *shape"]) -> UInt8[Tensor, "n *shape"]:
        return self.join(((q > self.low) & (q < self.high), q >= self.high))

    def apply(
        self, q: Float[Tensor, "n *shape"], pattern: UInt8[Tensor, "n *shape"]
    ) -> Float[Tensor, "n *shape"]:
        ends = torch.where(pattern == self.HELD, torch.full_like(q, self.high), self.low)
        return torch.where(pattern == self.OPEN, q, ends)

    def value(self, pattern: UInt8[Tensor, "n *shape"]) -> Float[Tensor, "n *shape"]:
        return (pattern == self.OPEN).to(torch.get_default_dtype())

    def planes(self, pattern: UInt8[Tensor, "n *shape"]) -> tuple[Bool[Tensor, "n *shape"], ...]:
        return pattern == self.OPEN, pattern == self.HELD

    def join(self, planes: tuple[Bool[Tensor, "n *shape"], ...]) -> UInt8[Tensor, "n *shape"]:
        opened, held = planes
        return opened.to(torch.uint8) * self.OPEN + held.to(torch.uint8) * self.HELD

    def __str__(self) -> str:
        return f"ReLU{self.high:g}" if self.low == 0 else f"clipped {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Magnitude(Kind):
    """|q|: open where q > 0; a shut gate multiplies by -1."""

    @property
    def shut(self) -> float:
        return -1.0

    def read(self, q: Float[Tensor, "n *shape"]) -> Bool[Tensor, "n *shape"]:
        return q > 0

    def apply(
        self, q: Float[Tensor, "n *shape"], pattern: Bool[Tensor, "n *shape"]
    ) -> Float[Tensor, "n *shape"]:
        return torch.where(pattern, q, -q)

    def value(self, pattern: Bool[Tensor, "n *shape"]) -> Float[Tensor, "n *shape"]:
        return 2 * pattern.to(torch.get_default_dtype()) - 1

    def pack(self, q: Float[Tensor, "n *shape"]) -> tuple[Int64[Tensor, "n words"], ...]:
        return (pack_positive(q),)

    def __str__(self) -> str:
        return "|·|"


@dataclass(frozen=True)
class Smooth(Kind):
    """A gate that is a number: SiLU's, GELU's, a soft gate's. The pattern is its value."""

    hard: ClassVar[bool] = False

    gate: Gate

    @classmethod
    def silu(cls) -> "Smooth":
        """SiLU: q·σ(q)."""
        return cls(Soft(beta=1.0, epsilon=0.0))

    @classmethod
    def gelu(cls, approximate: Literal["none", "tanh"] = "none") -> "Smooth":
        """GELU: q·Φ(q), or its approximation by tanh; named as in torch."""
        return cls(NormalTanh() if approximate == "tanh" else Normal())

    def read(self, q: Float[Tensor, "n *shape"]) -> Float[Tensor, "n *shape"]:
        return self.gate.value(q)

    def apply(
        self, q: Float[Tensor, "n *shape"], pattern: Float[Tensor, "n *shape"]
    ) -> Float[Tensor, "n *shape"]:
        return q * pattern

    def value(self, pattern: Float[Tensor, "n *shape"]) -> Float[Tensor, "n *shape"]:
        return pattern

    def steepness(self, q: Float[Tensor, "n *shape"]) -> Float[Tensor, "n *shape"]:
        return self.gate.slope(q)

    def __str__(self) -> str:
        return "SiLU" if self == Smooth.silu() else str(self.gate)
