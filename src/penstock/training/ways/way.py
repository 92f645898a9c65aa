"""What the loop asks of a way: outputs of E members of one shape at once, and their gradients."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor

__all__ = ["Batch", "Named", "Slope", "Split", "Way"]

Split = Literal["train", "test"]
Named = Mapping[str, Tensor]
Slope = Callable[[Tensor], Tensor]
"""From the outputs, E × B × outputs, to the derivative of each member's loss by them."""


class Batch(NamedTuple):
    """What E members are evaluated on."""

    split: Split
    """Which examples: those trained on, or the test set."""
    rows: Int[Tensor, "e b"] | slice
    """Their numbers there: each member's own, or a slice that all have in common."""
    x: Shaped[Tensor, "e b *shape"]
    """The examples. What all members have in common is expanded, not copied."""
    training: bool
    """Whether modules are in training mode."""


class Way(ABC):
    """How E members of one shape are evaluated at once.

    The names are those of the members' modules. While a training runs, the modules' own parameters and
    buffers are views into the loop's `parameters` and into `buffers()`, so that whoever looks at a member's
    module sees it as it is.
    """

    why: str
    """The reason for this way, in words."""
    capturable: bool = True
    """Whether a CUDA graph can hold a step of it: the same operations each time, on tensors that stay."""

    @abstractmethod
    def parameters(self) -> dict[str, Tensor]:
        """What is trained, as it is at the start: each E × shape."""

    def buffers(self) -> dict[str, Tensor]:
        """What else moves in training (running statistics), each E × …: the very tensors that `outputs`
        updates in place. A name that no buffer of the modules has is the way's own affair, kept for it in
        checkpoints."""
        return {}

    def prepare(self, inputs: Mapping[Split, Tensor]) -> None:  # noqa: B027, as most ways need nothing
        """Called once, before training, with all examples of each split: for what is looked up by row."""

    @abstractmethod
    def outputs(self, parameters: Named, batch: Batch) -> Float[Tensor, "e b *o"]:
        """The outputs of each member on its examples, which autograd can differentiate by the parameters."""

    def gradients(self, parameters: Named, batch: Batch, slope: Slope, into: Named) -> None:
        """Write the gradient of each member's loss into `into`, over what is there.

        This is autograd's way; one that knows its own backward pass overrides it.
        """
        leaves = {name: stacked.detach().requires_grad_() for name, stacked in parameters.items()}
        with torch.enable_grad():
            outputs = self.outputs(leaves, batch)
        found = torch.autograd.grad(
            outputs, list(leaves.values()), slope(outputs.detach()), allow_unused=True
        )
        write(found, into)

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {self.why}"


def write(found: tuple[Tensor | None, ...], into: Named) -> None:
    """Gradients over what stood there; a parameter that the outputs do not use has none, that is zero."""
    for gradient, place in zip(found, into.values(), strict=True):
        if gradient is None:
            place.zero_()
        else:
            place.copy_(gradient)
