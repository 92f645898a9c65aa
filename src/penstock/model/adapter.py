"""`adapt`: a module with another way of being called.

Every question of Penstock is asked of a module that takes one batch and returns one tensor, examples ×
outputs. What takes more, or returns a tuple or a dictionary, is wrapped once, and everything else stays as it
is: the parameters keep the model's names, because the wrapper shares the model's own registers of them and
adds none.
"""

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor, nn

from penstock.errors import PenstockError

__all__ = ["Adapted", "adapt"]

# What a module keeps its parameters, buffers and children in: one and the same object for the wrapper and the
# model.
_REGISTERS = ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set")


class Adapted(nn.Module):
    """A model called by a function of the user's; made by `adapt`."""

    adapted: nn.Module
    """The model itself. Not a child: a child would put its own name before every parameter's."""
    how: Callable[[nn.Module, Any], Tensor]

    def __init__(self, model: nn.Module, forward: Callable[[nn.Module, Any], Tensor]):
        super().__init__()
        self.__dict__["adapted"] = model
        self.__dict__["how"] = forward
        for register in _REGISTERS:
            self.__dict__[register] = model.__dict__[register]
        self.training = model.training

    def forward(self, batch: Any) -> Tensor:
        return self.how(self.adapted, batch)

    def train(self, mode: bool = True) -> "Adapted":
        self.adapted.train(mode)
        self.training = mode
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "Adapted":
        self.adapted._apply(fn, recurse)
        return self

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        return self.adapted.state_dict(*args, **kwargs)

    def load_state_dict(self, state_dict: Mapping[str, Any], *args: Any, **kwargs: Any) -> Any:
        return self.adapted.load_state_dict(state_dict, *args, **kwargs)

    def extra_repr(self) -> str:
        return type(self.adapted).__name__


def adapt(model: nn.Module, forward: Callable[[nn.Module, Any], Tensor]) -> nn.Module:
    """A module that calls `forward(model, batch)` and is otherwise `model` itself: same parameters, same
    names.

    >>> class Pair(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.body = nn.Linear(2, 3)
    ...     def forward(self, image, scale):
    ...         return {"logits": scale * self.body(image)}
    >>> adapted = adapt(Pair(), lambda model, batch: model(batch, 2.0)["logits"])
    >>> [name for name, _ in adapted.named_parameters()]
    ['body.weight', 'body.bias']
    """
    if not isinstance(model, nn.Module):
        raise PenstockError(f"adapt takes a torch.nn.Module first, not {_article(type(model).__name__)}")
    if not callable(forward):
        raise PenstockError(
            f"adapt takes a function of (model, batch) second, not {_article(type(forward).__name__)}; "
            "for example adapt(model, lambda model, batch: model(batch)[0])"
        )
    return Adapted(model, forward)


def _article(noun: str) -> str:
    return f"an {noun}" if noun[:1].lower() in "aeiou" else f"a {noun}"
