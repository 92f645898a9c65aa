"""The straight line between the weights before a step of training and those after it."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from penstock.errors import PenstockError

__all__ = ["Line", "Weights", "weights_of", "working_dtype"]

Weights = dict[str, Tensor]
"""Every parameter and buffer of a model, by name."""


def working_dtype(dtype: torch.dtype) -> torch.dtype:
    """float32 for dtypes of half precision, in which a thousandth of a step could not be told from none."""
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


def weights_of(model: nn.Module) -> Weights:
    """A copy of every parameter and buffer, floating ones in the dtype that is worked in."""
    named = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    return {name: _working(tensor.detach()).clone() for name, tensor in named.items()}


def _working(tensor: Tensor) -> Tensor:
    return tensor.to(working_dtype(tensor.dtype)) if tensor.is_floating_point() else tensor


@dataclass(frozen=True)
class Line:
    """Cut into `parts` pieces, from index 0 at `start` to index `parts` at `end`.

    What is floating moves: parameters, and running statistics as well. What is not (counters) is at its end
    already.
    """

    start: Weights
    end: Weights
    parts: int

    def __post_init__(self):
        for name in {**self.start, **self.end}:
            before, after = self.start.get(name), self.end.get(name)
            if (
                before is None
                or after is None
                or (before.shape, before.device) != (after.shape, after.device)
            ):
                raise PenstockError(
                    f"{name} was {_described(before)} before this step and is {_described(after)} now; "
                    "make new Switches when the model itself is changed"
                )
            if after.is_floating_point() and not bool(torch.isfinite(after).all()):
                raise PenstockError(
                    f"{name} holds NaN or an infinite number after this step, so that no gate has a state; "
                    "look at the learning rate"
                )

    @property
    def moves(self) -> bool:
        """Whether the two ends differ at all."""
        return any(not torch.equal(self.start[name], after) for name, after in self.end.items())

    def at(self, index: int) -> Weights:
        """The weights at `index` parts from the start."""
        if index in (0, self.parts):
            return self.start if index == 0 else self.end
        return {
            name: torch.lerp(self.start[name], after, index / self.parts)
            if after.is_floating_point()
            else after
            for name, after in self.end.items()
        }


def _described(tensor: Tensor | None) -> str:
    return "not there" if tensor is None else f"of shape {tuple(tensor.shape)} on {tensor.device}"
